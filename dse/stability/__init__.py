"""What would change the answer: flips and crossovers.

May import `dse.runs`, `dse.infeasible` and lower floors.
"""
