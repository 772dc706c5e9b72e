"""A finished run held to what it says: verify, explain, diff.

May import `dse.runs`, `dse.parametric` and lower floors.
"""
