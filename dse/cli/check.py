"""``dse check``: the faults of a study, or what it amounts to."""

from __future__ import annotations

from dse.cli.app import Setting, StudyFile, app, tell


@app.command()
def check(study: StudyFile, set_: Setting = None) -> None:
    """Read a study and report every fault, without running it."""
    from dse import search
    from dse.api import studies

    found = studies.load(study, overrides=set_)
    search.check_search(found.problem, found.settings)
    tell(f"{study}: {found.summary()}")
