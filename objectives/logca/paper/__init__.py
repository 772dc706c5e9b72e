"""The papers on LogCA: their claims and figures, held against the model.

May import `dse.contract`, the models and the catalogue.
"""
