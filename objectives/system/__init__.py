"""Quantities of a composed system: fleets behind an interface, under a power cap."""
