"""How sure the answer is: draws, sensitivity.

May import `dse.answers`, `dse.stability` and lower floors.
"""
