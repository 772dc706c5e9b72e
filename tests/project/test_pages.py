"""Every page: its commands are run or set aside with a reason, its links lead somewhere."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer.main

import dse
from dse import contract
from dse.cli.app import NAMES, application
from dse.contract.papers import Claim, Figure
from dse.plugins import registry
from dse.silicon.yosys import found_yosys
from dse.study.schema import SECTIONS
from tests.conftest import ROOT, run_dse
from tests.fitting.test_outputs import MR, TABLE
from tests.page.browser import PROGRAM, browser
from tests.project import test_readme
from tests.project.test_readme import blocks, commands, printed_by
from tests.silicon.toy import TOY

PAGES = sorted(
    path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
)

HERE = (
    "docs/characterise.md",
    "docs/evaluate.md",
    "docs/interfaces.md",
    "docs/models.md",
    "docs/package.md",
    "docs/records.md",
    "docs/silicon.md",
    "docs/today.md",
)
"""Pages whose commands are run by this file."""

HARDWARE = "docs/characterise.md"
SHOWN = (HARDWARE, "docs/package.md", "docs/today.md")
"""Of these, pages whose blocks of text are printed by their commands."""

RECIPES = [page for page in PAGES if page.startswith("docs/recipes/")]
"""Pages of one form, whose files, commands and outputs this file follows."""

LONG = (
    "docs/recipes/program.md",
    "docs/recipes/verilog.md",
    "docs/characterise.md",
    "docs/evaluate.md",
    "docs/today.md",
)
"""Of these, pages whose commands take ten seconds and more each: `make slow` runs them."""

ASIDE = {
    "dse fit host --out records": (
        "takes half a minute and openssl; tests/fitting/test_measure_host.py has one of its own"
    ),
    'python -m pip install "accel-dse[rtl]"': "likewise asks an index",
    "python write_vectors.py": "the folder of this file's tests has what it writes",
    "python -m pip install accel-dse": "asks an index; tests/project/test_packaging.py installs it",
}
"""Commands that no test runs as they are printed, and why."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that commands name."""
    path = tmp_path_factory.mktemp("pages")
    shutil.copytree(ROOT / "studies", path / "studies")
    shutil.copytree(ROOT / "cores" / "tables", path / "cores" / "tables")
    (measured,) = (text for text in blocks("docs/interfaces.md", "text") if "offload_us" in text)
    (path / "link.csv").write_text(measured, encoding="utf-8")
    for number, name in ((0, "synth"), (2, "model")):
        for language, end in (("yaml", "yaml"), ("python", "py")):
            text = blocks("docs/evaluate.md", language)[number]
            (path / f"{name}.{end}").write_text(text, encoding="utf-8")
    (path / "synth.py").chmod(0o755)
    (path / "sw.txt").write_text(TABLE, encoding="utf-8")
    (path / "hw.txt").write_text(MR, encoding="utf-8")
    _hardware(path)
    return path


def _hardware(path: Path) -> None:
    """Add what the page on hardware names, and what its Python writes."""
    for name, language in {
        "hash.v": "verilog",
        "hash.yaml": "yaml",
        "vectors.py": "python",
    }.items():
        (text,) = blocks(HARDWARE, language)
        (path / name).write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, "-P", "vectors.py"], cwd=path, check=True)
    shutil.copy(TOY, path / "cells.lib")


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page in LONG)) for page in HERE]
)
def test_commands_run_and_print_what_is_shown(page: str, folder: Path) -> None:
    if page == HARDWARE and not found_yosys():
        pytest.skip("needs pyosys or yosys")
    asked = [shlex.split(command) for command in commands(page) if command not in ASIDE]
    assert {program for program, *_ in asked} == {"dse"}
    printed = [printed_by(folder, *arguments) for _, *arguments in asked]
    if page not in SHOWN or (page == HARDWARE and not find_spec("pyosys")):  # whose abc it shows
        return
    for text in blocks(page, "text"):
        assert any(text.strip("\n") in one for one in printed), text


def test_the_hosts_on_the_page_on_functions_are_those_of_the_catalogue() -> None:
    text = (ROOT / "docs" / "today.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([0-9.]+) \|$", text, re.MULTILINE)
    assert len(rows) == 9
    for name, host, gbit in rows:
        kernel = registry.get(contract.Kernel, name)
        taken = kernel.offset_s + kernel.index_s_per_byte * 16384
        assert 16384 * 8 / taken / 1e9 == pytest.approx(float(gbit), rel=0.1), name
        assert host.startswith(kernel.host) or kernel.host.startswith(host), name


WRITTEN = re.compile(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A file of a recipe: its name, and what is in it."""


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page in LONG)) for page in RECIPES]
)
def test_a_recipe_is_followed(page: str, tmp_path: Path) -> None:
    if page.endswith("verilog.md") and not find_spec("pyosys"):
        pytest.skip("needs pyosys, whose abc it shows")
    shutil.copy(TOY, tmp_path / "cells.lib")
    for name, text in WRITTEN.findall((ROOT / page).read_text(encoding="utf-8")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    printed = []
    for command in commands(page):
        program, *arguments = shlex.split(command)
        if program == "python":
            subprocess.run([sys.executable, "-P", *arguments], cwd=tmp_path, check=True)
            continue
        done = run_dse(*arguments, cwd=tmp_path)
        assert (program, done.returncode in (0, 3)) == ("dse", True), done.stderr
        printed += [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
    for text in blocks(page, "text"):
        assert text.strip("\n") in "\n".join(printed), text


@pytest.mark.parametrize("page", RECIPES)
def test_a_recipe_has_the_form_of_the_others(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    parts = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert parts == ["Situation", "File", "Command", "Output", "Next"]
    assert len(text.split()) <= 350


def test_python_of_the_page_on_measured_designs_runs(folder: Path) -> None:
    (folder / "page.py").write_text(blocks("docs/evaluate.md", "python")[1], encoding="utf-8")
    assert len(runpy.run_path(str(folder / "page.py"))["front"]) == 4


def test_every_command_is_run_or_set_aside() -> None:
    run = {*HERE, *RECIPES, *test_readme.PAGES}
    left = {command for page in PAGES if page not in run for command in commands(page)}
    assert left <= set(ASIDE)
    assert set(ASIDE) <= {command for page in PAGES for command in commands(page)}


def test_commands_have_the_options_that_pages_show() -> None:
    """In sentences, and in the blocks that are run, also of pages that take long."""
    program = typer.main.get_command(application())
    for page in PAGES:
        if page == "CHANGELOG.md":  # it tells what was
            continue
        text = (ROOT / page).read_text(encoding="utf-8")
        lines = [line.removeprefix("dse ") for line in commands(page) if line.startswith("dse ")]
        for shown in [*re.findall(r"`dse ([a-z][^`]*)`", text), *lines]:
            command, words = program, shown.split()
            while words and hasattr(command, "commands"):
                assert words[0] in command.commands, f"{page}: dse {shown}"
                command = command.commands[words.pop(0)]
            known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
            asked = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert asked <= known | {"--help"}, f"{page}: dse {shown}"


def slug(heading: str) -> str:
    """Return the anchor of a heading, as hosts of repositories make it."""
    plain = re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def text_of(page: Path) -> str:
    """Return a page without what stands in blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_anchors(page: str) -> None:
    path = ROOT / page
    for link in re.findall(r"\]\(([^)]+)\)", text_of(path)):
        if link.startswith("https:"):
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), f"{page}: {link}"
        assert ROOT in target.resolve().parents, f"{page}: {link}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", text_of(target), re.MULTILINE)
            assert anchor in map(slug, headings), f"{page}: {link}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it strictly: a link or anchor to nothing, and a page that no menu leads to, end it."""
    pytest.importorskip("mkdocs", reason="needs the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_the_site_has_every_command_field_quantity_and_function(site: Path) -> None:
    reference = {path.stem: path.read_text("utf-8") for path in site.glob("reference/*.html")}
    reference["commands"] = (site / "reference" / "commands" / "index.html").read_text("utf-8")
    functions = [f'id="{module}.{name}"' for module, names in dse._FROM.items() for name in names]
    quantities = registry.names(contract.Objective)
    fields = [name for section in SECTIONS.values() for name in section.model_fields]
    for page, parts in {
        "commands": [f"dse {name}" for name in NAMES],
        "fields": [f"<code>{name}</code>" for name in fields],
        "catalogue": [f"<td>{name}</td>" for name in quantities],
        "python": functions,
        "contract": ['id="dse.contract.methods.Search"'],
    }.items():
        assert not [part for part in parts if part not in reference[page]]
    claims = (site / "reproduce.html").read_text("utf-8")
    assert claims.count("\n") > len(registry.records(Claim))
    assert {path.stem for path in (site / "figures").iterdir()} == {*registry.records(Figure)}
    notebook = (site / "notebook.html").read_text("utf-8")
    assert all(part in notebook for part in ("1 u8 + 2 u16", "data:image/png;base64", "40 Gbit/s?"))
    html = (path.read_text("utf-8") for path in site.rglob("*.html"))
    assert not [one for one in html if re.search(r'src="http|url\(http', one)], "nothing is fetched"
    assert (site / "search" / "search_index.js").is_file(), "a page on the disk is searched"


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
@pytest.mark.parametrize("page", ["index.html", "reference/fields.html"])
def test_a_page_opened_from_the_disk_is_searched(site: Path, page: str, tmp_path: Path) -> None:
    with browser(tmp_path) as tab:
        tab("Page.navigate", url=(site / page).as_uri())
        tab.until("document.readyState === 'complete' && !!document.querySelector('#__search')")
        tab.value("document.querySelector('#__search').click(); 0")
        tab.value("document.querySelector('.md-search__input').focus(); 0")
        tab("Input.insertText", text="Pareto front")
        tab.key("Shift", 16)  # the box listens to keys
        found = tab.until("document.querySelector('.md-search-result__link')?.href")
        assert found.startswith(site.as_uri())
        assert tab.problems == []
        assert not [one for one in tab.requests if not one.startswith(("file:", "data:"))]
