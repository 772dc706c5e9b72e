"""The energy roofline (Choi et al.): equations, and a fit to measured runs.

May import `dse.contract`.
"""
