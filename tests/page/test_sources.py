"""The source of every number: on the page, in the manifest, and by the files that say it."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import dse
from dse.contract import Core
from dse.plugins import registry
from tests.conftest import ROOT, STUDIES

CATALOGUE, TABLES = ROOT / "objectives" / "catalogue", ROOT / "cores" / "tables"
DEFAULT, GIVEN = ("default", "default of dse"), ("given", "the study")


def rows(table: Path) -> list[dict[str, str]]:
    lines = [line for line in table.read_text().splitlines() if not line.startswith("#")]
    return [*csv.DictReader(lines)]


def row(table: str, **wanted: str) -> dict[str, str] | None:
    return next((one for one in rows(CATALOGUE / table) if wanted.items() <= one.items()), None)


class Oracle:
    """What the files of a study say of a number, by its name on the page."""

    def __init__(self, study: str) -> None:
        self.data: dict[str, Any] = YAML(typ="safe").load((STUDIES / f"{study}.yaml").read_text())
        self.stages = {
            one.get("core") or one["provides"]: one for one in self.data.get("stages", ())
        }
        devices = self.data.get("axes", {}).get("interface.device", ())
        self.files = {Path(one).stem: one for one in devices if one.endswith(".yaml")}

    def source(self, name: str) -> tuple[str, str]:
        head, _, field = name.partition(".")
        if "<" in name:
            return "given", "a constraint of the study"
        if head in self.stages:
            return self.of_core(head, field.rpartition(".")[0])
        if head in self.data or "budget.platform" in self.data.get("axes", {}):
            found = row("platforms.csv", name=head)
            return ("published", f"{found['source']}; sustained rates") if found else GIVEN
        if head == "kernel":
            found = row("kernels.csv", name=self.data["workload"]["kernel"])
            assert found
            assert "measured: " in found["source"]
            assumes = f"; assumes: {found['assumption']}" * bool(found["assumption"])
            return "measured", f"{found['source'].removeprefix('measured: ')}{assumes}"
        return self.of_device(head, field)

    def of_core(self, stage: str, design: str) -> tuple[str, str]:
        tables = {path.stem: rows(path) for path in TABLES.glob("*.csv")}
        named = [
            core
            for core, found in tables.items()
            if design.startswith(f"{core}_")
            and core in registry.names(Core)
            and design.removeprefix(f"{core}_") in [one["design"] for one in found]
        ]
        (core,) = named if "provides" in self.stages[stage] else [stage]
        known = registry.get(Core, core)
        return known.evidence, f"{known.node}: {known.models['table'].source}"

    def of_device(self, device: str, field: str) -> tuple[str, str]:
        if device in self.files:
            file = self.files[device]
            said = YAML(typ="safe").load((STUDIES / file).read_text())["interface"]
            word = "assumed" if field in said["assumptions"] else "published"
            return (word, f"{file}: {said['source']}") if field in said else DEFAULT
        units = ("", "_s", "_byte_per_s")
        found = (row("attachments.csv", interface=device, field=field + unit) for unit in units)
        said = next(filter(None, found), None)
        if said is None:
            return DEFAULT
        reference = row("references.csv", reference=said["reference"])
        return said["grade"], f"{reference['text']}: {said['conditions']}"


def shown(page: Path) -> Iterator[tuple[str, str, str]]:
    """Yield name, evidence and source of each number that a page lists."""
    (section,) = re.findall(r'<section id="assumptions".*?</section>', page.read_text(), re.DOTALL)
    for cells in re.findall("<tr>(<td>.*?)</tr>", section):
        names, _, evidence, source = (html.unescape(c) for c in re.findall("<td>(.*?)</td>", cells))
        yield from ((name, evidence, source) for name in names.split("<br>"))


@pytest.mark.parametrize(
    ("study", "count"),
    [
        *[("tls_100gbps", 65), ("aes_100gbps", 113), ("des_100gbps", 25)],
        *[("nic_crypto_100gbps", 57), ("platforms_power_bound", 92)],
    ],
)
def test_each_number_has_the_source_of_its_record(study: str, count: int, tmp_path: Path) -> None:
    run = dse.run(STUDIES / f"{study}.yaml", out=tmp_path / "run", plots=False)
    found, oracle = [*shown(dse.report(run))], Oracle(study)
    assert len(found) == count
    assert [(name, *oracle.source(name)) for name, _, _ in found] == found
    for group in run.manifest["sources"]:
        for name in group["inputs"]:
            assert (group["evidence"], group["source"]) == oracle.source(name), name
