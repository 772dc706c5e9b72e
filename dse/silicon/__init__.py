"""Silicon: from hardware descriptions and standard-cell libraries to tables of cores.

The chain of a design, which `flow` runs: `description` reads the Verilog, `tasks` has its known
answers (`vectors`), `mapping` makes a `netlist` of the `cells` of a `liberty` file,
`timing` finds its least period, `simulation` counts the transitions of its `gates`, and `power`
adds up their energy.  `request` is one or several designs, `characterisation` their table.  A wing:
only the command line and `dse` by its name reach it, through `public`.
May import `dse.errors`, `dse.contract`, `dse.workers`, `dse.algebra`, `dse.plugins`, `dse.files`,
`dse.reports` and the argument types of `dse.api`.
"""
