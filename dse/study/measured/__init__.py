"""What a study measures, or has measured: a space of its own, or figures of its cores.

May import modules of `dse.study` and what they may import.
"""
