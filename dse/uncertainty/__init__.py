"""How sure the answer is: draws, sensitivity.

May import `dse.answers` and lower floors.
"""
