"""Measuring designs outside: programs, Python callables, workers of this machine and of others.

May import `dse.errors`, `dse.contract`, `dse.workers` and `dse.algebra`.
"""
