"""``dse check``: the faults of a study, or what it amounts to."""

from __future__ import annotations

from dse.cli.app import AsJson, Setting, StudyFile, app, show_json, tell
from dse.errors import DseError, faults_of


@app.command()
def check(study: StudyFile, set_: Setting = None, json: AsJson = False) -> None:
    """Read a study and report every fault, without running it."""
    from dse import search
    from dse.api import studies
    from dse.reports.words import paragraph

    try:
        found = studies.load(study, overrides=set_)
        search.check_search(found.problem, found.settings)
    except DseError as error:
        if json:
            show_json({"study": str(study), "faults": [*faults_of(error)]})
        raise
    if json:
        show_json({"study": str(study), "faults": [], "summary": found.summary()})
    else:
        lines = f"{study}: {found.summary()}".splitlines()
        tell("\n".join(paragraph(line, indent="  ") for line in lines))
