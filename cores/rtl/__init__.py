"""Generators of the paper's cores as hardware: Verilog of our own, and the answers it must give.

Battle & Hempstead, "Characterizing the Costs and Benefits of Hardware Parallelism in Accelerator
Cores", describe the cores and give figures of them, but no hardware; what is made here follows the
description and says where it does not.

May import `dse.contract`.
"""
