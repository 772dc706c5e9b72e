"""The papers on LogCA: their claims, compared with the model, and their figures.

May import `dse.contract`, the models and the catalogue.
"""
