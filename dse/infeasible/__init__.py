"""Why nothing fits, and the least change that would.

May import `dse.study`, `dse.reports` and lower floors.
"""
