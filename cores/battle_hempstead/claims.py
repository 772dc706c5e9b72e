"""What Battle and Hempstead claim of accelerator cores, each beside our models."""

from __future__ import annotations

from dse.cores.battle_hempstead import des, equations, fft_jacobi, fleets, sweep, tables

claims = (
    *tables.claims,
    *equations.claims,
    *des.claims,
    *fleets.claims,
    *fft_jacobi.claims,
    *sweep.claims,
)
