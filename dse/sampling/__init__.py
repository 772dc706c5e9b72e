"""How sure the answer is: draws, Sobol indices.

May import `dse.answers` and lower floors.
"""
