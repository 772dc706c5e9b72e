"""The page itself: the template of this package with words, data and scripts filled in."""

from __future__ import annotations

import base64
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
    *("units.js", "rule.js", "state.js", "look.js", "scatter.js", "winners.js"),
    *("save.js", "table.js", "details.js", "controls.js", "card.js", "tornado.js", "roofs.js"),
    *("growth.js", "main.js"),
)
"""Scripts in the order of reading, together one function."""

MOVING = ("growth.js", "map.js", "live.js")
"""Scripts that update a page from the program behind it."""

WORDS = ("answer", "more", "map", "remarks", "front", "assumptions", "others", "certificate")
"""Parts of a page that are sentences and tables."""

_ABOUT = "The best answer by region; the words below name all."
"""Description of the decision map."""

INERT = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
"""Characters that would end a script, or a line of it, inside JSON, and their escapes."""

_SLOT = re.compile(r"\{\{(\w+)\}\}")
_PART = re.compile(r"<!-- (?P<name>\w+) -->\n(?P<text>.*?)<!-- end (?P=name) -->\n", re.DOTALL)
"""Optional parts of the template, never nested."""


def page_html(
    title: str,
    parts: Mapping[str, Sequence[Section]],
    data: Mapping[str, Any] | None,
    picture: bytes = b"",
    live: Mapping[str, Any] | None = None,
) -> str:
    """Return a page that needs no other file.

    Parameters
    ----------
    title
        Its heading.
    parts
        Sections of words and tables by the part of the page: ``answer``, ``more`` of it, ``map``,
        ``remarks``, ``front``, ``assumptions`` and ``others``, which the answer does not use,
        ``certificate`` and ``study``, whose lines are text as it was written.
    data
        Data of the scripts, or None for a page of words only.
    picture
        An SVG of the decision map.
    live
        Facts for a page that is served by the program, or None for a file.
    """
    words = {name: sections.html("", parts.get(name, ())) for name in WORDS}
    filled = {"title": html.escape(title), "style": _read("page.css"), **words}
    filled["map_picture"] = _image(picture) if picture else ""
    filled["study"] = "".join(map(_preformatted, parts.get("study", ())))
    slots = filled | _scripted(data, live) | _served(live)
    kept = {name for name, found in parts.items() if found}
    kept |= {name for name, found in (("pictures", data), ("live", live)) if found}
    page = _read("page.html")
    template = _PART.sub(lambda part: part["text"] if part["name"] in kept else "", page)
    return _SLOT.sub(lambda slot: slots[slot[1]], template)


def _scripted(data: Mapping[str, Any] | None, live: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the slots of scripts, their library and their data, empty on a page of words."""
    moving = MOVING * (live is not None)
    if data is None:
        slots = dict.fromkeys(("library", "licences", "told"), "")
        own, slots["data"], slots["summary"] = moving, "null", "All that was found"
    else:
        slots = {"library": _script(_read(LIBRARY)), "data": inert_json(data)}
        slots["licences"] = html.escape("\n\n".join(map(_read, LICENCES)))
        slots["told"] = "without-script"
        own, slots["summary"] = SCRIPTS + moving, "Why, what limits it, what else would cost"
    return slots | {"scripts": _function("\n".join(map(_read, dict.fromkeys(own))))}


def _served(live: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the slots of a page with its program behind it, empty for a file."""
    if live is None:
        return {"live": "", "connect": ""}
    facts = _read("live.html").replace("{{facts}}", inert_json(live))
    return {"live": facts, "connect": "; connect-src 'self'"}


def _image(picture: bytes) -> str:
    encoded = base64.b64encode(picture).decode("ascii")
    source = f"data:image/svg+xml;base64,{encoded}"
    return f'<img class="picture" alt="{_ABOUT}" src="{source}">'


def inert_json(data: Any) -> str:
    """Return plain data as JSON that a page may hold: no text in it is read as HTML or script."""
    plain = json.dumps(jsonable(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return plain.translate(INERT)


def _preformatted(section: Section) -> str:
    """Return a text line by line, with the lines in `facts` struck out, and their replacements."""
    lines = [html.escape(line) for line in section.lines]
    for number in section.facts or ():
        lines[number] = f"<del>{lines[number]}</del>"
    text = "\n".join(lines)
    ran = "".join(f"<p>It ran with <code>{html.escape(r)}</code></p>\n" for r in section.remarks)
    title = html.escape(section.title)
    return f"<h3>{title}</h3>\n{ran}<pre tabindex='0' aria-label='{title}'>{text}</pre>\n"


def _function(text: str) -> str:
    return _script(f"(() => {{\n'use strict';\n{text}\n}})();")


def _script(text: str) -> str:
    """Return a script of this package as an element, without its end tag inside."""
    return f"<script>{text}</script>"


def _read(name: str) -> str:
    return TEMPLATE.joinpath(*name.split("/")).read_text(encoding="utf-8")
