"""Hardware as it is described: Verilog, recorded waves, known answers, tasks.

May import modules of `dse.silicon` and their imports.
"""
