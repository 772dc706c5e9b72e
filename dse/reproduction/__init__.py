"""Papers' claims checked, their figures drawn.

May import `dse.study`, `dse.reports` and lower floors.
"""
