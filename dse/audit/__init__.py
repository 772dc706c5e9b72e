"""Checks of a finished run against its manifest and study: verify, explain, diff.

May import `dse.runs`, `dse.parametric` and lower layers.
"""
