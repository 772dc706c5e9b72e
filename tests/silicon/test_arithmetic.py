"""Multipliers are rows of a table and an axis; full adders count where they make less area."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import dse
from dse.contract.evaluators import Setup
from dse.errors import StudyError
from dse.silicon.descriptions.own_hardware import Verilog
from dse.silicon.evaluator import Said
from dse.silicon.targets import BOOTH, STATED, Target
from dse.silicon.yosys import found_yosys
from tests.silicon.test_characterise import Run, fails
from tests.silicon.test_characterise import run as run
from tests.silicon.toy import TOY

pytestmark = pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")

PRODUCT = """
module product (input clk, input [7:0] a, input [7:0] b, output reg [15:0] answer);
  reg [7:0] x, y;
  always @(posedge clk) {x, y, answer} <= {a, b, {8'b0, x} * y};
endmodule
"""
TASK = {"payload": "16 bit", "cycles_per_task": "1", "latency": "2"}
SUM = {"CO": "(A*B)+(CI*(A+B))", "SN": "!(A^B^CI)"}


@pytest.fixture
def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Verilog:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = np.random.default_rng(1).integers(0, 256, (40, 2)).tolist()
    answers = ["-", "-", *(a * b for a, b in words)]
    lines = [f"{a},{b},{answer}" for (a, b), answer in zip(words, answers, strict=False)]
    (tmp_path / "product.v").write_text(PRODUCT)
    (tmp_path / "answers.csv").write_text("\n".join(["a,b,answer", *lines, ""]))
    check = tmp_path / "answers.csv"
    return dse.verilog(tmp_path / "product.v", top="product", check=check, **TASK)


def full_adder(area: int) -> str:
    """Return the head of the toy library with one cell, which inverts the sum."""
    head, _, rest = TOY.read_text().partition("  cell (INV) {")
    timing = rest[rest.index("timing ()") : rest.index("internal_power")]
    arcs = {name: timing.replace('"A"', f'"{name}"') for name in ("A", "B", "CI")}
    pins = [f"pin ({name}) {{ direction : input; capacitance : 0.01; }}" for name in arcs]
    for name, function in SUM.items():
        each = "".join(arcs.values()).replace("negative_unate", "non_unate")
        pins.append(f'pin ({name}) {{ direction : output; function : "{function}"; {each} }}')
    return f"{head} cell (FA) {{ area : {area}; {' '.join(pins)} }} }}"


def test_a_recoded_multiplier_is_a_row_of_its_own_with_the_same_answers(product: Verilog) -> None:
    plain = dse.characterise(product, library=TOY, clock="100 MHz")
    booth = dse.characterise(product, library=TOY, clock="100 MHz", multipliers="booth")
    (one,), (other,) = plain.designs, booth.designs
    assert (one.name, other.name) == ("product", "product_booth")
    assert other.parameters == {"multiplier": "booth"}
    assert other.figures["cells"] != one.figures["cells"]
    assert other.facts["tasks"] == one.facts["tasks"] == "38"
    assert "# booth multipliers: one for two bits, by radix-4 recoding\n" in booth.csv()
    assert "multiplier" not in plain.csv()


def test_full_adders_are_taken_where_the_design_is_smaller(
    product: Verilog, tmp_path: Path
) -> None:
    def figures(area: int) -> Mapping[str, float]:
        (tmp_path / "adder.lib").write_text(full_adder(area))
        library = (TOY, tmp_path / "adder.lib")
        found = dse.characterise(product, library=library, clock="50 MHz", full_adders=True)
        assert found.designs[0].facts["tasks"] == "38"
        return found.designs[0].figures

    (plain,) = dse.characterise(product, library=TOY, clock="50 MHz").designs
    small, large = figures(3), figures(300)
    assert small["full_adders"] > 20
    assert small["area_m2"] < plain.figures["area_m2"]
    assert (large["full_adders"], large["area_m2"]) == (0, plain.figures["area_m2"])


def test_a_library_without_full_adders_is_refused(run: Run) -> None:
    assert fails(lambda: run(over="UNROLL=8", full_adders=True)) == (
        f"UNROLL8: full_adders: {TOY.name}; the library has no full adder; add the file of its "
        "adders, or leave full_adders out"
    )


def test_designs_without_products_are_one_row(run: Run) -> None:
    found = run(over="UNROLL=8", multipliers="plain, booth")
    assert [one.name for one in found.designs] == ["UNROLL8"]
    assert "another multiplier gives no more than 1 % less area or energy" in found.csv()


def test_a_way_to_multiply_that_is_not_known_is_refused(run: Run) -> None:
    told = "multiplier: 'both'; there is no multiplier of this name; did you mean 'booth'?"
    assert fails(lambda: run(multipliers="plain, both")) == told
    axis = Said(Setup(settings={"multiplier": "both"}, files=(), axes={}, folder=Path()), {})
    with pytest.raises(StudyError) as raised:
        axis.targets()
    assert str(raised.value) == told


def test_an_axis_chooses_the_way_to_multiply() -> None:
    setup = Setup(settings={}, files=(), axes={}, folder=Path())
    assert Said(setup, {"multiplier": BOOTH}).targets() == [
        Target(share=STATED.share, multiplier=BOOTH)
    ]
    both = Said(setup, {"multiplier": BOOTH, "target": 4e8}).targets()
    assert both == [Target(clock_hz=4e8, multiplier=BOOTH)]
