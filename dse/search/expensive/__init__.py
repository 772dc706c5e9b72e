"""Search of expensive designs: a Gaussian process chooses the next ones.

May import `dse.search`, `dse.model` and lower layers.
"""
