"""Which sizes of a mix stay on the host in the design that is recommended, and what that takes."""

from __future__ import annotations

from collections.abc import Iterator

from dse.algebra import units
from dse.answers.design import amount
from dse.contract import SIZE
from dse.model.mixed import PAYLOAD_OFFLOADED, TASKS_OFFLOADED, Mixed
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.sections import Section
from dse.reports.text import listed, percent


def staying_sections(problem: Problem, point: Index) -> Iterator[Section]:
    """Yield a section for the design at `point`, (1, d); none where every size is offloaded."""
    mixed = problem.graph.quantities
    columns = {name: float(column[0]) for name, column in problem.describe(point).items()}
    share = columns.get(TASKS_OFFLOADED, 1.0)
    if not isinstance(mixed, Mixed) or share == 1.0:
        return
    (parted,) = (one for one in mixed.parts if one.share == share)
    sizes = [size for size, _ in parted.staying]
    takes = {q.name: columns[q.name] for q in problem.quantities if q.staying}
    shares = {"tasks": 1.0 - share, "payload": 1.0 - columns[PAYLOAD_OFFLOADED]}
    known = [amount(value, name) for name, value in takes.items() if value > 0]
    parts = listed([f"{percent(part)} of the {what}" for what, part in shares.items()])
    verb = "stays" if len(sizes) == 1 else "stay"
    line = f"{listed([units.show(size, SIZE) for size in sizes])} {verb}, {parts}: "
    facts = {"sizes_byte": sizes, "shares": shares, "takes": takes}
    yield Section("staying", "On the host", (f"{line}{listed(known)}.",), facts=facts)
