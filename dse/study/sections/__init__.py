"""The sections of a study file, a module each, as pydantic models.

May import `dse.study.fields`, `dse.study.sizes` and what they may import.
"""
