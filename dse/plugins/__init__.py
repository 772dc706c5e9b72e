"""Search for plug-ins by name: the only user of entry points.

May import `dse.errors` and `dse.contract`.
"""
