"""What Altaf and Wood claim of LogCA (ISCA 2017; CAL 2014), each beside our model."""

from __future__ import annotations

from objectives import (
    logca_claims_cutoffs,
    logca_claims_devices,
    logca_claims_equations,
    logca_claims_implications,
    logca_claims_kernels,
    logca_claims_regions,
)

claims = (
    *logca_claims_equations.claims,
    *logca_claims_implications.claims,
    *logca_claims_devices.claims,
    *logca_claims_kernels.claims,
    *logca_claims_regions.claims,
    *logca_claims_cutoffs.claims,
)
