"""Text in, plain data with locations out: YAML, CSV, JSON, folders written whole or not at all.

May import `dse.errors`, `dse.contract`, `dse.algebra` and `dse.plugins`.
"""
