"""Search where each design takes minutes: a Gaussian process chooses what to evaluate next.

`search` has the loop, `beginning` the first designs, `process` the regression, `boxes` and
`improvement` what a design is expected to add, `feasible` whether it meets the constraints.

May import `dse.search`, `dse.model` and what they may import.
"""
