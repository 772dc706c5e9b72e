"""A study as numbers: space, fleets, quantities, constraints, bounds, dominance.

May import `dse.errors`, `dse.contract`, `dse.algebra` and `dse.plugins`.
"""
