"""The front of a finished run as pictures and reports see it, read back from its folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dse.errors import OutputError
from dse.model.tables import Table
from dse.reports.front_view import FrontView, Recommended, Reference
from dse.runs import finished, stored


def plot(run: Path, folder: Path) -> tuple[Path, ...]:
    """Draw the pictures of the run in folder `run` again, into `folder`.

    Raises
    ------
    OutputError
        When `run` is not the folder of a run, or `folder` cannot be written.
    """
    view = read_view(run)
    from dse.reports import plots  # matplotlib, only now

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            return tuple(
                path.replace(folder / path.name) for path in plots.draw_front(view, Path(fresh))
            )
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror}") from error


def read_view(run: Path) -> FrontView:
    """Return the front of the run in folder `run`, and the feasible designs around it.

    Raises
    ------
    OutputError
        When it is not the folder of a run.
    """
    manifest = finished.read_manifest(run)
    try:
        front, evaluations = stored.read_tables(run, manifest.get("evaluations_stored"))
        return view_of(front, feasible_rows(evaluations), manifest)
    except (OSError, ValueError, KeyError) as error:
        raise finished.not_a_run(run, error) from error


def view_of(front: Table, cloud: Table, manifest: Mapping[str, Any]) -> FrontView:
    """Return a front as pictures and reports see it, and the cloud around it."""
    picture = manifest["picture"]
    return FrontView(
        title=picture["title"],
        objectives=tuple(manifest["objectives"].items()),
        front=front,
        cloud=cloud,
        axes=tuple(picture["axes"]),
        category=picture["category"],
        limits=picture.get("limits", True),
        sweep=picture["sweep"],
        names=picture["names"],
        recommended=recommended_of(manifest),
        references=tuple(_references(manifest)),
    )


def feasible_rows(evaluations: Table) -> Table:
    """Return the evaluated designs that are feasible."""
    return {name: values[evaluations["feasible"]] for name, values in evaluations.items()}


def recommended_of(manifest: Mapping[str, Any]) -> Recommended | None:
    """Return the recommended design; None for a sweep, and for a run from before it was written."""
    said = manifest.get("recommended")
    return Recommended(said["row"] - 1, said["design"], said["rule"]) if said else None


def _references(manifest: Mapping[str, Any]) -> Iterator[Reference]:
    """Yield what does without any design, as far as a run tells of it."""
    for said in manifest.get("instead", ()):
        costs = said.get("costs", {})
        values = {name: costs[name] for name in manifest["objectives"] if name in costs}
        yield Reference(said.get("words", ""), values, said.get("verdict", ""), said["text"])
