"""What of a manifest follows from study and front, derived again and compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dse.audit.checks import Points, WrittenFront
from dse.audit.verdict import MISSED, Check, check_of
from dse.files.json import jsonable
from dse.files.position import shortened
from dse.runs import checksums
from dse.runs.finished import Finished
from dse.runs.limits import TOLERANCE
from dse.runs.manifest import UNMET, front_facts, study_facts
from dse.runs.notes import Counts, FrontOfPart
from dse.runs.quality import measure_front

NO_CHECKSUMS = "this run was written without checksums; run the study again to have them"

SHARED = "storage"
"""An entry of runs of earlier versions, whose notes and evaluations are those of several."""


def check_files(manifest: Mapping[str, Any], folder: Path) -> Check:
    """Check that every file is the one that the run wrote."""
    if not checksums.are_due(manifest):
        return Check("files", MISSED, NO_CHECKSUMS)
    wrong = list(checksums.changed_files(manifest, folder))
    return check_of("files", wrong, "each is the one that the run wrote, by its checksum")


def check_manifest(manifest: Mapping[str, Any]) -> Check:
    """Check that every entry of the manifest is what the run wrote."""
    if not checksums.are_due(manifest):
        return Check("manifest", MISSED, NO_CHECKSUMS)
    wrong = list(checksums.changed_entries(manifest))
    return check_of("manifest", wrong, "each entry is what the run wrote, by its checksum")


def check_study(run: Finished, every: Points) -> Check:
    """Check that the manifest is that of the study whose text it holds."""
    facts = study_facts(run.document, [point.study for point in every])
    said = str(run.manifest.get("study_sha256"))
    return _compared("study", run, facts, f"the manifest's text, sha256 {said[:12]}")


def check_summary(run: Finished, every: Points) -> Check:
    """Check what the manifest says of the front: how good it is, notes, what is recommended."""
    if SHARED in run.manifest:
        return Check("summary", MISSED, f"several processes shared its search (`{SHARED}`)")
    evaluated, failed = (_whole(run.manifest.get(name)) for name in ("evaluated", "failed"))
    interrupted = run.manifest.get("interrupted") is True
    failure = str(run.manifest.get("failure", ""))
    unmet = run.manifest.get(UNMET)
    unmet = [str(text) for text in unmet] if isinstance(unmet, list) else ()
    counts = Counts(evaluated, failed, failure, interrupted, unmet)
    parts = [_measured(point, run) for point in every]
    facts = front_facts(run.document, run.sweep, parts, counts)
    error = max(part.quality.hypervolume.error for part in parts)
    volume = f"hypervolume (estimated, ± {error:.2g})" if error else "hypervolume"
    right = f"{volume}, reference point, recommended design, notes and names follow from the front"
    return _compared("summary", run, facts, right)


def _whole(said: object) -> int:
    return said if isinstance(said, int) else 0


def _measured(point: WrittenFront, run: Finished) -> FrontOfPart:
    """Return a front as a manifest is made of it; another check reports what is infeasible."""
    index, loss = point.index[point.feasible], point.loss[point.feasible]
    certificate = run.manifest.get("certificate")
    unfinished = isinstance(certificate, dict) and bool(certificate.get("unfinished"))
    exact = bool(run.manifest.get("exact"))
    quality = measure_front(point.problem, loss, exact=exact, compare=not unfinished)
    return FrontOfPart(point.study, index, quality)


def _compared(name: str, run: Finished, facts: Mapping[str, Any], right: str) -> Check:
    """Return whether the manifest has some facts; what earlier versions did not write is named."""
    missing: list[str] = []
    old = not checksums.are_due(run.manifest)
    said = {key: run.manifest[key] for key in facts if key in run.manifest}
    wrong = list(_differences("", said, jsonable(dict(facts)), missing if old else None))
    unreported = ", ".join(dict.fromkeys(missing))
    lacks = f"; not checked, as the run does not report it: {unreported}" if missing else ""
    return check_of(name, wrong, right + lacks)


def _differences(name: str, said: Any, right: Any, missing: list[str] | None) -> Iterator[str]:
    """Yield where plain data differs; what it lacks goes to `missing` unless that is None."""
    if isinstance(said, dict) and isinstance(right, dict):
        for key in dict.fromkeys([*right, *said]):
            path = f"{name}.{key}".lstrip(".")
            if key not in said and missing is not None:
                missing.append(key)
            elif key not in said:
                yield f"{path} is missing from the manifest"
            elif key in right:
                yield from _differences(path, said[key], right[key], missing)
            elif missing is None:
                yield f"{path} of the manifest does not belong there"
    elif isinstance(said, list) and isinstance(right, list):
        yield from _different_lists(name, said, right, missing)
    elif not _is_same(said, right):
        yield f"{name} of the manifest is {_shown(said)}, and should be {_shown(right)}"


def _different_lists(
    name: str, said: list[Any], right: list[Any], missing: list[str] | None
) -> Iterator[str]:
    if len(said) == len(right):
        for place, pair in enumerate(zip(said, right, strict=True)):
            yield from _differences(f"{name}.{place}", *pair, missing)
        return
    yield f"{name} of the manifest has {len(said):,} entries, and should have {len(right):,}"
    for entry in right:
        if isinstance(entry, str) and entry not in said:
            yield f"{name} of the manifest lacks {_shown(entry)!r}"


def _is_same(said: Any, right: Any) -> bool:
    """Whether two plain values are the same, numbers within `TOLERANCE`."""
    if isinstance(said, bool) or not isinstance(said, int | float):
        return bool(said == right)
    if not isinstance(right, int | float):
        return False
    return math.isclose(said, right, rel_tol=TOLERANCE, abs_tol=0.0)


def _shown(value: Any) -> str:
    return f"{value:,}" if type(value) is int else shortened(str(value))
