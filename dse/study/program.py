"""The program whose kernel is offloaded: what a study has to say of it, and may."""

from __future__ import annotations

from collections.abc import Collection

from dse.study import schema
from dse.study.faults import Faults, Path

SHARE, OFFLOADS = "workload.program_share", "workload.program_offloads"


def check_program(
    written: schema.StudyFile, columns: Collection[str], most: float | None, faults: Faults
) -> None:
    """Refuse a program of which a part is missing, or whose kernel takes more than all of it.

    `columns` are those that the study sets, `most` is the largest share of a kernel.
    """
    given = [path for path in (SHARE, OFFLOADS) if _written(written, path)]
    if not given:
        return
    if len(given) == 1:
        other = OFFLOADS if given == [SHARE] else SHARE
        example = "100 kHz" if other == OFFLOADS else "30 %"
        rule = f"what offloads do for a program needs {SHARE} and {OFFLOADS}"
        faults.add(_path(written, given[0]), rule, f"add for instance {other}: {example}")
    if most is not None and most > 1.0:
        faults.add(_path(written, SHARE), "a share is at most 1", "write for instance 30 %")
    if "interface_in_flight" not in columns:
        rule = "offloads of a program pass an interface, and this study has none"
        faults.add(_path(written, given[0]), rule, "add `interface`, or remove it")


def _written(written: schema.StudyFile, path: str) -> bool:
    return path in written.axes or getattr(written.workload, path.partition(".")[2]) is not None


def _path(written: schema.StudyFile, path: str) -> Path:
    return ("axes", path) if path in written.axes else ("workload", path.partition(".")[2])
