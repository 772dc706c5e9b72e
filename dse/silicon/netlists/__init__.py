"""Mapped netlists: clocks, timing, switching, power.

May import modules of `dse.silicon` and their imports.
"""
