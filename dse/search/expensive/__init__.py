"""Search of expensive designs: a Gaussian process chooses the next ones.

`search` has the loop, with the first designs and the chance to meet the constraints, `process` the
regression of the objectives, `pool` the compared designs, `choosing` the designs of a batch.

May import `dse.search`, `dse.model` and lower layers.
"""
