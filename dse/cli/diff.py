"""``dse diff``: two finished runs side by side."""

from __future__ import annotations

from dse.cli.app import AsJson, RunFolder, app, show


@app.command()
def diff(run_a: RunFolder, run_b: RunFolder, json: AsJson = False) -> None:
    """Compare two runs: designs gained, lost and moved, and which change did it."""
    from dse.api import audits

    show(audits.diff(run_a, run_b), as_json=json)
