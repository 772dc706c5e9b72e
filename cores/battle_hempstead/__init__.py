"""The paper of Battle & Hempstead: its claims, compared with the cores, and its figures.

May import `dse.contract` and `dse.cores`.
"""
