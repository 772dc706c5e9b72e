"""Measurements of designs by programs and functions, and their storage.

A wing: studies and runs reach it by its name, through `public`, the contract of
`dse.study.measuring`.
May import `dse.runs` and lower floors.
"""
