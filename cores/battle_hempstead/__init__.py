"""The paper of Battle & Hempstead: its claims and figures, held against the cores.

May import `dse.contract` and `dse.cores`.
"""
