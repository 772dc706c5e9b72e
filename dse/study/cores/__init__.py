"""Cores named in a study: installed models, laws and tables of the user, and their designs.

May import modules of `dse.study` and their imports.
"""
