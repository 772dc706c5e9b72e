"""Runs of studies, their folders, and the reading of these.

May import `dse.study`, `dse.reports` and lower floors.
"""
