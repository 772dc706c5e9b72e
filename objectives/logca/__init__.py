"""LogCA (Altaf & Wood): equations, limits, regions and break-even granularities."""
