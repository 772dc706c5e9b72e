"""Commands that answer questions about a study, and check a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from dse.cli.options import Call, command, imported, show, show_json, write
from dse.errors import InfeasibleError
from dse.reports.progress import LateBar, bar

REFUTED = 1
"""Exit status of a refuted run."""


@command("dse.api.answers:answer")
def answer(call: Call, *, all: bool = False, json: bool = False) -> None:
    """Recommend a design with its reasons, limits and alternatives.

    Parameters
    ----------
    all
        Show everything, not only one screen.
    """
    shown = LateBar("assumptions")
    shown.doing("searching")
    begun = False

    def print_part(text: str) -> None:
        nonlocal begun
        shown.close()
        write(f"\n{text}" if all and begun else text)
        begun = True
        shown.doing("looking further")

    try:
        found = call(all=all or json, callback=None if json else print_part, progress=shown)
    except InfeasibleError as error:
        if json:
            show_json(error.facts)
        raise
    finally:
        shown.close()
    if json:
        show_json(found.to_dict())


@command("dse.api.changes:flips")
def flips(call: Call, *, out: str | Path | None = None, json: bool = False) -> None:
    """Find how far each assumption may move until the answer flips.

    Parameters
    ----------
    out
        Output folder for a picture and JSON.
    """
    with bar("assumptions", "searching") as shown:
        found = call(progress=lambda name, number, total: shown(number, total, name))
    _show_and_save(found, out, "dse.parametric.plots:save_flips", json=json)


@command("dse.api.changes:decision_map", name="map")
def decision_map(call: Call, *, out: str | Path | None = None, json: bool = False) -> None:
    """Find the best answer over a range of one number or two.

    Parameters
    ----------
    out
        Output folder for a table (CSV), pictures and JSON.
    """
    two = "other_range" in call.given
    with bar("rows" if two else "parts of the range", "searching") as shown:
        found = call(progress=shown)
    _show_and_save(found, out, "dse.parametric.plots:save_map", json=json)


@command("dse.api.answers:uncertainty")
def uncertainty(call: Call, *, out: str | Path | None = None, json: bool = False) -> None:
    """Rate the certainty of the design, or rank its assumptions.

    Parameters
    ----------
    out
        Output folder for JSON, and a tornado plot of Sobol indices.
    """
    with bar("searches at most", "searching, then sampling") as shown:
        found = call(progress=shown)
    _show_and_save(found, out, "dse.sampling.plots:save_uncertainty", json=json)


@command("dse.api.answers:simulate")
def simulate(call: Call, *, out: str | Path | None = None, json: bool = False) -> None:
    """Simulate one design, against the model.

    Parameters
    ----------
    out
        Output folder for a picture and JSON.
    """
    with bar("offloads") as shown:
        found = call(progress=shown)
    _show_and_save(found, out, "dse.simulation.plots:save_simulation", json=json)


def _show_and_save(found: Any, out: str | Path | None, save: str, *, json: bool) -> None:
    """Print the results, and save them with a function that draws, which few commands need."""
    show(found, json)
    if out is not None:
        imported(save)(found, Path(out))


@command("dse.api.audits:verify")
def verify(call: Call, *, all: bool = False, json: bool = False) -> None:
    """Check a run independently of its search, and try to beat it.

    Parameters
    ----------
    all
        Show every check, not only failed ones.
    """
    with bar("designs") as shown:
        found = call(progress=shown)
    if json:
        show_json(found.to_dict())
    else:
        write(found.text(all=all))
    if not found.holds:
        raise typer.Exit(REFUTED)


@command("dse.api.audits:explain")
def explain(call: Call, *, json: bool = False) -> None:
    """Explain why a design is on the front or not, with its terms."""
    with bar("designs", "evaluating"):
        found = call()
    show(found, json)
    if found.verdict == "refutation":
        raise typer.Exit(REFUTED)
    if not found.feasible:
        raise typer.Exit(InfeasibleError.exit_code)


@command("dse.api.audits:diff")
def diff(call: Call, *, json: bool = False) -> None:
    """Compare two runs: inputs changed, designs gained, lost, moved."""
    with bar("designs", "comparing the runs"):
        found = call()
    show(found, json)
