"""Search of expensive designs: a Gaussian process chooses the next ones.

`search` has the loop, `process` the regression, `improvement` the merit of designs.

May import `dse.search`, `dse.model` and lower layers.
"""
