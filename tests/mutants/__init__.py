"""Mutants: the code broken in one place at a time, to see whether a test fails."""
