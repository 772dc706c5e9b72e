"""Field-programmable gate arrays: families, mapping, placing and routing.

May import modules of `dse.silicon` and what they may import.
"""
