"""Tables of cores and of designs that a study names, as columns.

May import `dse.study` and what it may import.
"""
