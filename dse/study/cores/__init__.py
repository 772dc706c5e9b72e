"""Cores as a study names them: installed models, laws and tables of the user, their designs.

May import modules of `dse.study` and what they may import.
"""
