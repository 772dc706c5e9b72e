"""Problems from study files or dicts, with all errors reported at once.

A value that cannot be read raises `UnitError` with rule and remedy, and a document raises
`StudyError` with all of its errors.

May import `dse.search` and lower floors.
"""
