"""Standard cells: liberty files, the functions, pins and uses of their cells.

May import modules of `dse.silicon` and their imports.
"""
