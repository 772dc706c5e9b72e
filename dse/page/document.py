"""The page itself: the template of this package with words, data and scripts filled in."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from dse.files.json import jsonable
from dse.reports import sections
from dse.reports.sections import Section

TEMPLATE = files(__package__) / "template"
LIBRARY = "echarts/echarts.min.js"
LICENCES = ("echarts/NOTICE.txt", "echarts/LICENSE.txt", "echarts/LICENSE-d3.txt")

SCRIPTS = (
    *("units.js", "rule.js", "state.js", "look.js", "scatter.js", "parallel.js"),
    *("winners.js", "table.js", "controls.js", "tornado.js", "main.js"),
)
"""In the order in which they are read; together they are one function."""

INERT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""What would end a script, or a line of it, inside JSON, and what says the same in a string."""

_SLOT = re.compile(r"\{\{(\w+)\}\}")


def page_html(
    title: str, parts: Mapping[str, Sequence[Section]], data: Mapping[str, Any] | None
) -> str:
    """Return a page that needs no other file.

    Parameters
    ----------
    title
        Its heading.
    parts
        Sections of words and tables by the part of the page: ``answer``, ``more`` of it,
        ``remarks``, ``front``, ``assumptions``, ``certificate`` and ``study``, whose lines are
        text as it was written.
    data
        What the scripts draw; None for a page of words alone.
    """
    slots = {
        "title": html.escape(title),
        "style": _read("page.css"),
        "data": inert_json(data) if data is not None else "null",
        "library": _script(_read(LIBRARY)) if data is not None else "",
        "scripts": _script(f"(() => {{\n'use strict';\n{_scripts()}\n}})();") if data else "",
        "licences": html.escape("\n\n".join(map(_read, LICENCES))) if data is not None else "",
        "study": "".join(map(_preformatted, parts.get("study", ()))),
        **{
            name: sections.html("", parts.get(name, ()))
            for name in ("answer", "more", "remarks", "front", "assumptions", "certificate")
        },
    }
    return _SLOT.sub(lambda slot: slots[slot[1]], _read("page.html"))


def inert_json(data: Any) -> str:
    """Return plain data as JSON that a page may hold: no text in it is read as HTML or script."""
    plain = json.dumps(jsonable(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return "".join(INERT.get(character, character) for character in plain)


def _preformatted(section: Section) -> str:
    text = html.escape("\n".join(section.lines))
    return f"<h3>{html.escape(section.title)}</h3>\n<pre>{text}</pre>\n"


def _scripts() -> str:
    return "\n".join(map(_read, SCRIPTS))


def _script(text: str) -> str:
    """Return a script of this package as an element; none of them holds its end tag."""
    return f"<script>{text}</script>"


def _read(name: str) -> str:
    return TEMPLATE.joinpath(*name.split("/")).read_text(encoding="utf-8")
