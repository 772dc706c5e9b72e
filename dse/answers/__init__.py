"""The recommended design, the reason, and the cost of any other choice.

May import `dse.runs`, `dse.parametric` and lower floors.
"""
