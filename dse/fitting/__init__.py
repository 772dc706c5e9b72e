"""Records fitted to measurements: cores, hosts, interfaces.

May import `dse.study`, `dse.reports` and lower floors.
"""
