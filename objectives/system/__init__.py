"""Quantities of a composed system: fleets behind an interface, under a power cap.

May import `dse.contract` and `dse.objectives.logca`.
"""
