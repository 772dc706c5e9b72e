"""A finished run held to what it says: verify, explain, diff.

May import `dse.runs`, `dse.infeasible` and lower floors.
"""
