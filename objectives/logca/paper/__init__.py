"""The papers on LogCA: their claims and figures, held against the model."""
