"""The page of a study with the program behind it, served to this machine alone.

May import `dse.api` and lower floors.
"""
