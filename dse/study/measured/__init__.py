"""Measurements of a study, made or recorded: its own space, or metrics of its cores.

May import modules of `dse.study` and their imports.
"""
