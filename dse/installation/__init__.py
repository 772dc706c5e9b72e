"""The installation (`list`, `show`, `doctor`), and starters (`new`).

May import `dse.study`, `dse.reports` and lower layers.
"""
