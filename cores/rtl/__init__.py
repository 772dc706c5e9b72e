"""Generators of the paper's cores as hardware: our own Verilog, and its known answers.

Battle & Hempstead, "Characterizing the Costs and Benefits of Hardware Parallelism in Accelerator
Cores", describe the cores and give metrics of them, but no hardware.  The Verilog here follows
the description and names its departures.

May import `dse.contract`.
"""
