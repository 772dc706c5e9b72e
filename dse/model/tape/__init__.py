"""One tape per study: its losses and violations, written down operation by operation.

`traced` records what functions do with columns, `record` traces a problem, `layout` sorts the
operations by the axes that they depend on, `run` evaluates designs and `taped` says when.

May import the rest of `dse.model` and lower floors.
"""
