"""Search where each design takes minutes: a Gaussian process chooses what to evaluate next.

`search` has the loop, with the first designs and the chance to meet the constraints, `process` the
regression of the objectives, `pool` the designs compared, `choosing` those of a batch.

May import `dse.search`, `dse.model` and what they may import.
"""
