"""The search methods of the program, as plug-ins, whose code is imported when it runs.

May import `dse.contract` and `dse.errors`, and `dse.search` inside their functions.
"""
