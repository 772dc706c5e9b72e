"""Named numbers: units, expressions over them, enclosures of them.

May import `dse.errors` and `dse.contract`.
"""
