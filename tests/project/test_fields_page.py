"""The site's page of fields has each of them, with its unit and what it counts as by default."""

from __future__ import annotations

import importlib
import runpy
from pathlib import Path

import pytest

from dse.study.field_kinds import Unit
from dse.study.schema import DECLARED, SECTIONS
from dse.testing import check_requirement
from tests.conftest import ROOT, installed, run_dse
from tests.project.test_readme import blocks


def test_the_page_has_the_fields_that_are_declared() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "site" / "reference.py"))["fields"]()
    rows = {line.split(" | ")[0].strip("| `"): line for line in page.splitlines()}
    for section, fields in SECTIONS.items():
        for name in fields.model_fields:
            assert name in rows
            declared = DECLARED.get(f"{section}.{name}")
            if isinstance(declared, Unit) and declared.unwritten:
                assert declared.unwritten in rows[name]
    assert "[cycles or s or cycles/B or s/B]" in rows["latency"]
    assert "256 B; with `pcie` only" in rows["max_payload"]


# The code of docs/plugins.md is one package that installs, conforms and is used by name


PAGE = "docs/plugins.md"
STUDY = """\
workload: {rate: 20 Gbit/s}
stages: [{core: des, fleet: mixed}]
objectives: {power_density: minimise, area: minimise}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install what the page shows, as pip would."""
    folder = tmp_path_factory.mktemp("page")
    metadata = folder / "my_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    points = "\n".join(blocks(PAGE, "toml")).replace('"', "").replace("project.entry-points.", "")
    for module in ("aes", "density", "search"):
        points = points.replace(f"my_package.{module}:", "my_package:")
    (metadata / "entry_points.txt").write_text(points)
    (folder / "my_package.py").write_text("\n".join(blocks(PAGE, "python")))
    return folder


def run(site: Path, *command: str) -> str:
    done = run_dse(*command, cwd=site, site=site)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_conforms(site: Path) -> None:
    with installed(site):
        page = importlib.import_module("my_package")
        page.test_conformance()
        check_requirement(page.stays_cool)


def test_the_page_is_used_by_name(site: Path) -> None:
    (search,) = blocks(PAGE, "yaml")
    (site / "study.yaml").write_text(STUDY + search)
    out = run(site, "run", "study.yaml", "--out", "out")
    assert "500 evaluated (mine" in out
    assert "power_density_w_per_m2" in (site / "out" / "front.csv").read_text()
    assert "most batches" in run(site, "list", "mine")
    assert "my-package 1.0" in run(site, "list", "cores")
    assert "nothing is broken" in run(site, "doctor")
