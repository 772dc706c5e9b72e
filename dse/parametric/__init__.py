"""The exact answer as a function of a number: where it changes, how far it holds, what it takes.

May import `dse.runs` and lower floors.
"""
