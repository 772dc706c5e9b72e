"""Papers' claims checked, their figures drawn.

A wing: only the command line and `dse` by its name reach it, through `public` and `figures`.
May import `dse.study`, `dse.reports`, lower layers and the argument types of `dse.api`.
"""
