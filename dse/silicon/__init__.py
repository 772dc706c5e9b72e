"""Silicon: from hardware descriptions and standard-cell libraries to tables of cores.

A mapped netlist meets a liberty library: static timing, switching activity, power.
May import `dse.errors`, `dse.contract`, `dse.workers`, `dse.algebra`, `dse.plugins`, `dse.files`,
`dse.evaluators` and `dse.reports`.
"""
