"""Certainty of an answer: draws, Sobol indices.

May import `dse.answers` and lower layers.
"""
