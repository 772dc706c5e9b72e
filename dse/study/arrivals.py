"""Whether a study can have offloads that do not arrive steadily, and what it takes for granted."""

from __future__ import annotations

from dse.study import schema
from dse.study.faults import Faults
from dse.study.scenario import Scenario

COLUMN = "workload_arrival_cv2"
FIELD = "workload.arrivals"
_VARY = ("are of several sizes", "do not arrive steadily")


def check_arrivals(
    written: schema.StudyFile, scenario: Scenario, *, meet: bool, faults: Faults
) -> None:
    """Refuse arrivals that make no sense in a study; note what law they are taken to have.

    `meet` says that clocks meet the rate.
    """
    most = scenario.highest(COLUMN)
    if most is None:
        return
    if not most and scenario.mix is None:
        return
    place = ("axes", FIELD) if FIELD in written.axes else ("workload", "arrivals")
    if "interface_in_flight" not in scenario.names:
        rule = "arrivals are those of offloads, and a study without an interface has none"
        faults.add(place, rule, "add `interface`, or remove it")
        return
    if scenario.highest("workload_rate_bit_per_s") is None:
        rule = (
            "without workload.rate a design carries all that it can, and offloads that "
            f"{_VARY[most > 0]} would wait forever"
        )
        faults.add(place, rule, "set workload.rate")
    if meet:
        rule = (
            "clocks that meet the rate leave nothing to spare, and offloads that "
            f"{_VARY[most > 0]} would wait forever"
        )
        faults.add(place, rule, "write `clock: 1`, or other fractions, in the stages")
    laws = {"hyperexponential with balanced means": most > 1, "gamma distributed": 0 < most < 1}
    for law, taken in laws.items():
        if taken:
            scenario.notes.append(
                f"gaps between arrivals with a cv2 of {most:g} are taken to be {law}; others of "
                "that cv2 wait longer or less, see docs/models.md"
            )
