"""An interface and a kernel fitted to measured host and offload times.

May import `dse.fitting` and what it may import.
"""
