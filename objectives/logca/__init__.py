"""LogCA (Altaf & Wood): equations, limits, regions and break-even granularities.

May import `dse.contract`.
"""
