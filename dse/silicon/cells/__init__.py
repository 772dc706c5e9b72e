"""Standard cells: liberty files, and what their cells compute, take and may be used for.

May import modules of `dse.silicon` and what they may import.
"""
