"""Records fitted to measurements: cores, platforms, interfaces.

May import `dse.study`, `dse.reports` and lower floors.
"""
