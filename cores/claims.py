"""What Battle and Hempstead claim of accelerator cores, each beside our models."""

from __future__ import annotations

from cores import (
    claims_des,
    claims_equations,
    claims_fft_jacobi,
    claims_fleets,
    claims_sweep,
    claims_tables,
)

claims = (
    *claims_tables.claims,
    *claims_equations.claims,
    *claims_des.claims,
    *claims_fleets.claims,
    *claims_fft_jacobi.claims,
    *claims_sweep.claims,
)
