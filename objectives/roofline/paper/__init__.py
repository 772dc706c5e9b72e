"""The paper on the energy roofline: its claims and figures, held against the model.

May import `dse.contract`, the models and the catalogue.
"""
