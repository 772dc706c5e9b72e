"""From a study file, or a dict, to a problem, with every fault at once.

May import `dse.search` and lower floors.
"""
