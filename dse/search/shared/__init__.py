"""Trials of Optuna that several processes share through a storage, each asking and telling.

May import what `dse.search` may.
"""
