"""What each command does, in terms of the engine; text goes out through `report`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from dse import search
from dse.errors import InfeasibleError, StudyError, UnitError
from dse.reports.progress import bar
from dse.runs import runner
from dse.study import study

RUNS = Path("runs")


def settings(pairs: Sequence[str]) -> list[tuple[str, str]]:
    """Split ``path=value`` options.

    Raises
    ------
    UnitError
        When an option has no ``=``.
    """
    split = []
    for pair in pairs:
        path, equals, value = pair.partition("=")
        if not equals or not path.strip():
            raise UnitError(
                f"--set {pair!r}: it must be PATH=VALUE",
                'write for instance --set "workload.rate=73 Gbps"',
            )
        split.append((path.strip(), value.strip()))
    return split


def run(
    path: Path,
    out: Path | None,
    method: str | None,
    seed: int | None,
    budget: int | None,
    pairs: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """Run a study, write its folder, print the answer."""
    overrides = settings(pairs)
    document = study.read(path, overrides)
    options = runner.Options(method=method, seed=seed, budget=budget)
    try:
        with bar("designs") as progress:
            finished = runner.run(document, options, progress)
    except InfeasibleError as error:
        if as_json:
            print_json(error.facts)
        raise
    from dse.runs.result import Result  # pandas and matplotlib, only now

    result = Result(finished, overrides)
    folder = result.save(out or _fresh(path.stem))
    if as_json:
        print_json({"folder": str(folder)} | result.manifest | {"designs_on_front": result.rows()})
    else:
        print(result.summary())
        print(f"\nwritten to {folder}")


def _fresh(stem: str) -> Path:
    """Return a folder under ``runs/`` that does not exist yet."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    names = (f"{stem}-{stamp}" + (f"-{number}" if number else "") for number in range(1000))
    return next(RUNS / name for name in names if not (RUNS / name).exists())


def check(path: Path, pairs: Sequence[str]) -> None:
    """Report every fault of a study, or what it amounts to."""
    from dse.model.space import product_text

    document = study.read(path, settings(pairs))
    sweep = study.sweep_of(document)
    prepared = study.prepare(document if sweep is None else study.at(document, sweep, 0))
    search.check(prepared.problem, prepared.settings)
    goals = ", ".join(f"{goal.sense} {goal.name}" for goal in prepared.problem.goals)
    print(f"{path}: {product_text(prepared.problem.sizes)} designs; {goals}")
    if sweep is not None:
        print(f"{sweep.path} takes {len(sweep.values)} values, and the study runs for each")
    _print_notes(prepared)


def _print_notes(prepared: study.Study) -> None:
    for note in prepared.notes:
        print(f"note: {note}")


def evaluate(path: Path, pairs: Sequence[str], *, as_json: bool) -> bool:
    """Evaluate the one design that a study and its settings leave; return its feasibility."""
    from dse.model import invariants
    from dse.model.space import as_index, one_block
    from dse.reports import report
    from dse.runs import terms

    document = study.read(path, settings(pairs))
    prepared = study.prepare(document)
    _refuse_open_axes(prepared)
    invariants.check(prepared.problem, as_index(one_block(prepared.problem.sizes)))
    found = terms.explain(prepared.problem)
    if as_json:
        print_json(found.plain())
    else:
        print(f"{found.design}\n")
        print(report.terms([(t.name, t.value, t.meaning, t.source) for t in found.terms]))
        print(f"\n{'feasible' if found.feasible else 'not feasible'}")
        for rule, violation in found.constraints:
            missed = f"missed by {violation:.4g} of the bound" if violation > 0 else "met"
            print(f"  {rule}: {missed}")
        _print_notes(prepared)
    return found.feasible


def _refuse_open_axes(prepared: study.Study) -> None:
    faults = []
    for axis in prepared.problem.space.axes:
        if axis.size > 1:
            shown = ", ".join(axis.labels[:8]) + (", ..." if axis.size > 8 else "")
            faults.append(
                prepared.document.fault(
                    (),
                    f"{axis.name} is open ({shown})",
                    "one design is needed",
                    f'add --set "{axis.name}={axis.labels[-1]}"',
                )
            )
    if faults:
        raise StudyError(faults)


def verify(folder: Path, trials: int, seed: int, *, as_json: bool) -> bool:
    """Check a finished run again, independently of its search; return whether it holds."""
    from dse.audit.verify import verify

    with bar("designs") as progress:
        found = verify(folder, trials=trials, seed=seed, progress=progress)
    if as_json:
        print_json(found.plain())
    else:
        print(found.text())
    return found.holds


def explain(folder: Path, designs: Sequence[str], *, as_json: bool) -> bool:
    """Say why a design is on the front of a run, or not; return whether the run agrees."""
    from dse.audit.explain import explain

    found = explain(folder, designs)
    if as_json:
        print_json(found.plain())
    else:
        print(found.text())
    return found.verdict != "refutation"


def plot(folder: Path, out: Path | None) -> None:
    """Draw the pictures of a run folder again."""
    from dse.runs import result

    target = out or folder
    for picture in result.plot(folder, target):
        print(picture)


def schema() -> None:
    """Print the JSON Schema of a study."""
    from dse.study.schema import Study

    document: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    print_json(document | Study.model_json_schema(by_alias=True))


def print_json(value: Any) -> None:
    """Print plain data as JSON."""
    from dse.files.json import plain

    print(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))
