"""Running a study; what a run leaves on disk, and reading it back.

May import `dse.study`, `dse.reports` and lower floors.
"""
