"""Sampled fronts: pymoo's and optuna's algorithms as methods of a search.

May import `dse.search`, `dse.model` and lower layers.
"""
