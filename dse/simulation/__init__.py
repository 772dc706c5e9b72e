"""A witness for the models of offloads: the same pipeline as discrete events, one after the other.

Nothing here knows an equation of a quantity: fields of the study and columns of its stages become
stations with times, and what happens is counted.  May import `dse.answers` and lower floors.
"""
