"""Proven fronts: every design enumerated, or partial designs composed, by branch and bound.

May import `dse.search`, `dse.model` and lower layers.
"""
