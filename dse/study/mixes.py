"""Whether a study can have offloads of several sizes."""

from __future__ import annotations

from collections.abc import Collection

from dse.study.faults import Faults
from dse.study.schema import StudyFile
from dse.study.sizes import Mix


def checked_mix(written: StudyFile, columns: Collection[str], faults: Faults) -> Mix | None:
    """Return the mix of sizes of a study, None for offloads of one size; refuse what it excludes.

    `columns` are those that the study sets.
    """
    mix = written.workload.granularity
    if not isinstance(mix, Mix) or "workload.granularity" in written.axes:
        return None
    path = ("workload", "granularity")
    if "interface_in_flight" not in columns:
        rule = "a mix is one of offloads, and a study without an interface has none"
        faults.add(path, rule, "add `interface`, or write one size")
    if "workload_chained" in columns:
        rule = "tasks of a stream that wait for each other are not modelled for a mix of sizes"
        faults.add(path, rule, "write one size, or remove `chained`")
    if "workload_arrival_cv2" in columns:
        rule = "what offloads of several sizes wait is neither modelled nor simulated"
        faults.add(path, rule, "write one size, or remove workload.arrivals")
    return mix
