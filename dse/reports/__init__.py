"""Fronts and answers as text and pictures.

May import `dse.search` and lower layers.
"""
