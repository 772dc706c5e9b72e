"""A fitted interface as text."""

from __future__ import annotations

import textwrap

from dse.algebra import units
from dse.fitting.interface import interface_answer
from dse.fitting.interface.interface_answer import InterfaceReport
from dse.reports.text import table_text

_WIDTH = 100


def interface_text(found: InterfaceReport) -> str:
    """Return a fit as text."""
    sizes = found.timings.size
    where = ", ".join(name for name, _ in found.timings.files)
    head = (
        f"{where}: {len(sizes)} sizes from {units.show(sizes[0], 'size_byte')} "
        f"to {units.show(sizes[-1], 'size_byte')}"
    )
    facts = [f"{name}: {value}" for name, value in found.timings.facts.items()]
    headers = ("parameter", "value", "95 % interval", "what it is")
    curve = ("curve", "noise", "largest residual", "size left out", "worst", "adequacy")
    parts = [
        "\n".join([head, *facts]),
        table_text(interface_answer.parameters(found), headers),
        table_text(interface_answer.curves(found), curve),
        "\n".join(
            textwrap.fill(line, _WIDTH, subsequent_indent="  ")
            for line in interface_answer.sentences(found)
        ),
    ]
    return "\n\n".join(parts)
