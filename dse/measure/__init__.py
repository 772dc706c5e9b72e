"""Measuring designs outside, by programs and functions, and keeping what came of it.

A wing: studies and runs reach it by its name, through `public`, the contract of
`dse.study.measuring`.
May import `dse.runs` and lower floors.
"""
