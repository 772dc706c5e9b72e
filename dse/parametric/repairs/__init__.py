"""Why a study has no feasible design, and the least changes that would admit one.

May import modules of `dse.parametric` and what they may import.
"""
