"""What Altaf and Wood claim of LogCA (ISCA 2017; CAL 2014), each beside our model."""

from __future__ import annotations

from dse.objectives.logca.paper import cutoffs, devices, equations, implications, kernels, regions

claims = (
    *equations.claims,
    *implications.claims,
    *devices.claims,
    *kernels.claims,
    *regions.claims,
    *cutoffs.claims,
)
