"""Hooks of mkdocs: the pages of the site that are not files of docs/.

Those at the top of the repository (README.md and its like) are read where they lie, and their links
made to fit; the reference is generated from the program.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cards  # type: ignore[import-not-found]  # of this folder
import papers  # type: ignore[import-not-found]
import reference  # type: ignore[import-not-found]
import silicon  # type: ignore[import-not-found]
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
OVERVIEW = "overview.md"
"""README.md on the site, whose first page is docs/index.md."""
NOTEBOOK = "notebook"
GALLERY = "gallery.md"
COMMANDS = "reference/commands"
"""The folder of the page of all commands, and of the page of each."""
BOOSTS = {"Tutorial": 2.0, "Recipes": 4.0, "How to": 4.0, "Explanation": 0.5, "Contributing": 0.25}
"""Weights of sections of the site in its search.  Others weigh 1."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add a page of each command to the navigation."""
    pages = [{f"dse {name}": f"{COMMANDS}/{name}.md"} for name in reference.commands() if name]
    for part in config.nav or ():
        for title, entries in part.items():
            if title == "Reference":
                entries.insert(0, {"Commands": [f"{COMMANDS}/index.md", *pages]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the top of the repository and those of the reference."""
    root = Path(config.config_file_path).parent
    made: dict[str, str | bytes]
    made = {_placed(name): (root / name).read_text(encoding="utf-8") for name in TOP}
    made[f"{NOTEBOOK}.md"] = "\n\n".join(_notebook(Path(config.docs_dir) / f"{NOTEBOOK}.ipynb"))
    made |= {f"reference/{name}.md": page() for name, page in reference.PAGES.items()}
    made["reference/silicon.md"] = silicon.page()
    for name, text in reference.commands().items():
        made[f"{COMMANDS}/{name or 'index'}.md"] = text
    made |= dict(papers.pages())
    made |= _gallery(Path(config.docs_dir) / GALLERY)
    files.remove(files.src_uris[GALLERY])
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links fit, as all pages lie in one folder here, and weigh the page in the search."""
    name = page.file.src_uri
    sections = [one.title for one in page.ancestors]
    page.meta["search"] = {"boost": BOOSTS.get(sections[-1] if sections else str(page.title), 1.0)}
    above = "docs/" if name in map(_placed, TOP) else "../" if "/" not in name else ""
    moved = markdown.replace(f"]({above}", "](") if above else markdown
    plain = re.sub(r"\[([^]]*)\]\(studies/[^)]*\)", r"`\1`", moved)  # no page, but a file
    return plain.replace("](README.md", f"]({OVERVIEW}")


def _gallery(page: Path) -> dict[str, str | bytes]:
    """Return the page of the gallery with its cards, and the report that each opens."""
    made: dict[str, str | bytes] = {}
    answers: dict[str, str] = {}
    for name, report, answer in cards.reports():
        made[f"gallery/{name}.html"] = report
        answers[name] = answer
    return made | {GALLERY: cards.with_cards(page.read_text(encoding="utf-8"), answers)}


def _placed(name: str) -> str:
    """Return the name on the site of a page of the top of the repository."""
    return OVERVIEW if name == "README.md" else name


def _notebook(path: Path) -> Iterator[str]:
    """Yield the cells of a notebook and their stored outputs as Markdown."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        yield source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```"
        for output in cell.get("outputs", ()):
            yield _shown(output.get("data") or {"text/plain": output["text"]})
    yield f"The notebook itself: [{path.name}]({path.name})."


def _shown(data: dict[str, Any]) -> str:
    """Return what a notebook shows of an output: its picture, else its table, else its text."""
    if "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        return f'<img alt="picture" src="data:image/png;base64,{picture}">'
    plain = f"<pre>{html.escape(''.join(data['text/plain']))}</pre>"
    return "".join(data.get("text/html") or plain)
