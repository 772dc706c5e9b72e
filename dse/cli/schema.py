"""``dse schema``: the JSON Schema of a study."""

from __future__ import annotations

from dse.cli.app import app, show_json


@app.command()
def schema() -> None:
    """Print the JSON Schema of studies, for editors."""
    from dse.study.schema import json_schema

    show_json(json_schema())
