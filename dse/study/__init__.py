"""Problems from study files or dicts, with all errors reported at once.

May import `dse.search` and lower floors.
"""
