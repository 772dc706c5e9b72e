"""Finished runs as one web page, which needs no network.

May import `dse.runs`, `dse.reports`, `dse.study` and lower layers.
"""
