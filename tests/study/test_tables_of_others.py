"""Tables as spreadsheets, scripts and tools write them: read like plain ones, or refused."""

from __future__ import annotations

from random import Random

import pytest

from dse.study import study
from tests.conftest import Write, everything, faults

STUDY = "designs: t.csv\nobjectives: {area: minimise, latency: minimise}\n"
HEADER = ["design", "area_um2", "latency_ns", "luts"]
Rows = list[list[str]]


def text_of(rows: Rows, before: str = "") -> str:
    return before + "".join(f"{','.join(row)}\n" for row in rows)


def marked(draw: Random, rows: Rows) -> str:
    """Begin with a byte-order mark."""
    return text_of(rows, "\ufeff" + draw.choice(["", "# a, b\n"])).replace("\n", "\r\n")


def numbered(draw: Random, rows: Rows) -> str:
    """Number the rows, as pandas does."""
    numbers = [draw.choice(["", "Unnamed: 0"]), *draw.sample("0123456789", len(rows) - 1)]
    return text_of([[number, *row] for number, row in zip(numbers, rows, strict=True)])


def remarked(draw: Random, rows: Rows) -> str:
    """Write the header as a remark, as DPDK does."""
    header = f"# seed 1, 2\n#{draw.choice(['', ' '])}{','.join(rows[0])}\n"
    return text_of(rows[1:], header + draw.choice(["", "\n"]))


def unmeasured(draw: Random, rows: Rows) -> str:
    """Omit figures of a column that nothing uses."""
    for row in draw.sample(rows[1:], draw.randint(1, len(rows) - 2)):
        row[3] = draw.choice(["", "-", "NA", "nan", "n/a"])
    return text_of(rows)


def unclear(draw: Random, rows: Rows) -> str:
    """Write a column that nothing uses in a unit or with cells that are not known."""
    rows[0][3] = draw.choice(["luts_kib", "luts [MWTA]", "luts [GFLOP]", "luts"])
    rows[1][3] = '"12,345"'
    return text_of(rows)


def table(draw: Random) -> Rows:
    figures = [[str(draw.randint(1000, 9999)) for _ in HEADER[1:]] for _ in range(9)]
    return [HEADER.copy(), *([name, *row] for name, row in zip("abcdefghi", figures, strict=True))]


@pytest.mark.parametrize("change", [marked, numbered, remarked, unmeasured, unclear])
def test_it_is_read_like_the_plain_table(change, write: Write) -> None:
    for draw in map(Random, range(40)):
        rows = table(draw)
        write(text_of(rows), "t.csv")
        plain = study.prepare(study.read_study(write(STUDY)))
        write(change(draw, rows), "t.csv")
        found = study.prepare(study.read_study(write(STUDY)))
        assert (everything(found.problem).loss == everything(plain.problem).loss).all()
        assert found.problem.space.axes[0].labels == plain.problem.space.axes[0].labels
        assert len(found.notes) - len(plain.notes) == (change in (unmeasured, unclear))


def lost(draw: Random, rows: Rows) -> list[str]:
    row = draw.randint(1, 9)
    rows[row][2] = draw.choice(["-", "NA", "n/a"])
    place = f"t.csv:{row + 1}:8: latency_ns: '{rows[row][2]}'"
    return [f"{place}; nothing was measured; write the number, or leave the row out"]


def grouped(draw: Random, rows: Rows) -> list[str]:
    plain = [row[2] for row in rows[1:]]
    for row in rows[1:]:
        row[2] = f'"{row[2][0]},{row[2][1:]}"'
    return [
        f"t.csv:{line}:8: latency_ns: {rows[line - 1][2]!r}; a number has no commas; ".replace(
            '"', ""
        )
        + f"write {number}, or {number[0]}.{number[1:]} if the comma is the decimal one"
        for line, number in enumerate(plain, start=2)
    ]


def with_units(draw: Random, rows: Rows) -> list[str]:
    unit = draw.choice(["ns", "us", "%", "MHz", "Gbit/s"])
    rows[0][2] = draw.choice(["latency", "latency (worst)"])
    for row in rows[1:]:
        row[2] += draw.choice(["", " "]) + unit
    return [
        f"t.csv:2:8: {rows[0][2]}: '{rows[1][2]}'; the unit of a column belongs in its header; "
        f"call it 'latency [{unit}]', and write only numbers"
    ]


@pytest.mark.parametrize("change", [lost, grouped, with_units])
def test_it_is_refused_with_the_remedy(change, write: Write) -> None:
    for draw in map(Random, range(40)):
        rows = table(draw)
        told = change(draw, rows)
        write(text_of(rows), "t.csv")
        assert faults(write(STUDY)) == told


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (
            "latency [MWTA]",
            "'MWTA' is not a known unit; did you mean 'MW'? "
            "`columns: {latency: 'latency [MWTA]'}` reads plain numbers",
        ),
        (
            "latency [kFLOPS]",
            "'kFLOPS' is not a known unit; write kop for operations, kop/s for their rate; "
            "`columns: {latency: 'latency [kFLOPS]'}` reads plain numbers",
        ),
        ("latency_kib", "'kib' may count bits or bytes; write Kibit or KiB"),
    ],
)
def test_a_unit_that_is_not_known_has_a_way_on(header: str, told: str, write: Write) -> None:
    write(f"design,area_um2,{header}\na,1,2\nb,2,1\n", "t.csv")
    assert faults(write(STUDY)) == [f"t.csv:1:17: {header!r}; {told}"]


def test_columns_that_are_not_read_count_in_places(write: Write) -> None:
    write(",design,area_um2,,latency_ns\n0,a,1,,2\n1,b,2,,x\n2,c,3,,5\n", "t.csv")
    (told,) = faults(write(STUDY))
    assert told.startswith("t.csv:3:8: latency_ns: 'x'; it is not a number")


def test_a_column_is_set_aside_with_its_reason_unless_a_rule_names_it(write: Write) -> None:
    write("design,area_um2,latency_ns,power_mw\na,1,2,NA\nb,2,1,5\n", "t.csv")
    assert study.prepare(study.read_study(write(STUDY))).notes[0] == (
        "t.csv: set aside, as no objective or rule names them: power_mw (line 2: nothing was "
        "measured)"
    )
    for rule in ("constraints: [power * latency <= '3 nJ']", "prefer: power_mw"):
        assert faults(write(f"{STUDY}{rule}\n"))[0].startswith("t.csv:2:7: power_mw: 'NA'; nothing")


def test_a_stage_may_set_a_figure_aside(write: Write) -> None:
    write("design,area_um2,clock_mhz,payload_bit,cycles_per_task,power_mw\na,1,9,8,1,NA\n", "t.csv")
    stage = "stages: [{table: t.csv, instances: 1%s}]\nobjectives: {area: minimise}\n"
    assert study.prepare(study.read_study(write(stage % ""))).notes[0] == (
        "t.csv: set aside, as no objective or rule names them: power_mw (line 2: nothing was "
        "measured)"
    )
    for rule in ("constraints: [area * energy < 1]", "prefer: power"):
        assert faults(write(stage % "" + rule)) == [
            "t.csv:2:11: power_mw: 'NA'; nothing was measured; write the number, or leave the row "
            "out; `columns: {unused: power_mw}` sets the column aside"
        ]
    used = stage.replace("area: ", "power: ") % ", columns: {unused: power_mw}"
    assert "power_w needs" in faults(write(used))[0]
