"""The page of a study with the program behind it, served only to this machine.

May import `dse.api` and lower layers.
"""
