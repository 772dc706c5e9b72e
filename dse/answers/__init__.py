"""Which design, why, and what any other choice costs.

May import `dse.runs`, `dse.parametric` and lower floors.
"""
