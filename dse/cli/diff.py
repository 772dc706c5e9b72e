"""``dse diff``: two finished runs side by side."""

from __future__ import annotations

from dse.cli.app import AsJson, RunFolder, app, show


@app.command()
def diff(run_a: RunFolder, run_b: RunFolder, json: AsJson = False) -> None:
    """Compare two runs: designs gained, lost, moved, and why."""
    from dse.api import audits
    from dse.reports.progress import bar

    with bar("designs", "comparing the runs"):
        found = audits.diff(run_a, run_b)
    show(found, as_json=json)
