"""Silicon: from hardware descriptions and standard-cell libraries to tables of cores.

A mapped netlist meets a liberty library: static timing, switching activity, power.  A wing: only
the command line and `dse` by its name reach it, through `public`.
May import `dse.errors`, `dse.contract`, `dse.workers`, `dse.algebra`, `dse.plugins`, `dse.files`,
`dse.reports` and the argument types of `dse.api`.
"""
