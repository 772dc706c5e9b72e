"""Hooks of mkdocs: the pages of the site that are not files of docs/.

Those at the top of the repository (README.md and its like) are read where they lie, and their links
made to fit; the reference is generated from the program.
"""

from __future__ import annotations

import re
from pathlib import Path

import reference  # type: ignore[import-not-found]  # beside this file
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
DECISIONS = "decisions/README.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the top of the repository and those of the reference."""
    root = Path(config.config_file_path).parent
    made = {name: (root / name).read_text(encoding="utf-8") for name in TOP}
    made[DECISIONS] = _decisions(Path(config.docs_dir) / "decisions")
    made |= {f"reference/{name}.md": page() for name, page in reference.PAGES.items()}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links fit: all pages lie in one folder here."""
    name = page.file.src_uri
    above = "docs/" if name in TOP else "../" if "/" not in name else ""
    moved = markdown.replace(f"]({above}", "](") if above else markdown
    plain = re.sub(r"\[([^]]*)\]\(studies/[^)]*\)", r"`\1`", moved)  # no page, but a file
    return re.sub(r"\]\(decisions/?\)", f"]({DECISIONS})", plain)


def _decisions(folder: Path) -> str:
    lines = ["# Decisions", ""]
    for path in sorted(folder.glob("*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        lines.append(f"- [{title}]({path.name})")
    return "\n".join(lines)
