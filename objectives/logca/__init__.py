"""LogCA (Altaf & Wood): the granularities at which offloads pay, and the paper itself.

May import `dse.contract`.
"""
