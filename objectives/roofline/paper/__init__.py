"""The paper on the energy roofline: its claims, compared with the model, and its figures.

May import `dse.contract`, the models and the catalogue.
"""
