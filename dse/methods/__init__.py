"""The search methods that come with the program, as plug-ins; their code is imported when it runs.

May import `dse.contract` and `dse.errors`, and `dse.search` inside their functions.
"""
