"""Why nothing fits, and the least change that would.

May import `dse.runs` and lower floors.
"""
