"""A check of the models of offloads: the same pipeline, one offload after the other.

No equation of a quantity is used here: fields of the study and columns of its stages become
stations with times.  May import `dse.answers` and lower layers.
"""
