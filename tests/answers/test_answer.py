"""The answer of a study: right, complete, readable, and the same in text, JSON and Python."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dse
from dse import Answer, contract, search
from dse.algebra import units
from dse.errors import DseError, InfeasibleError
from dse.model.labels import labelled_line
from dse.plugins import registry
from dse.study import study as studies
from dse.testing import check_objective
from tests.conftest import STUDIES, run_dse

CRYPTO = STUDIES / "crypto_interface_100gbps.yaml"
DES = STUDIES / "des_100gbps.yaml"
SWEPT = STUDIES / "des_fft_sweep.yaml"
SETTOP = STUDIES / "settop_116mbps.yaml"
PACKETS = {"workload.granularity": "1500 B"}


@pytest.fixture(scope="module")
def ask() -> Callable[..., Any]:
    """Return a function that answers a study, once for all tests."""
    kept: dict[str, Any] = {}

    def answered(study: Path, **options: Any) -> Any:
        if study in (CRYPTO, DES, SWEPT):  # what would change them takes seconds: see test_flips.py
            options.setdefault("flips", False)
        key = repr((study, options))
        if key not in kept:
            kept[key] = dse.answer(study, **options)
        return kept[key]

    return answered


def other(answer: Answer, choice: str) -> Any:
    (found,) = (entry for entry in answer.others if entry.choice == choice)
    return found


# What is recommended ------------------------------------------------------------------------


def test_100_gbps_takes_the_engine_with_a_large_offload_in_flight(ask) -> None:
    answer = ask(CRYPTO)
    assert answer.pick.counts == {"des.u16": 3}
    assert answer.pick.choices == {
        "interface.device": "sparc_t4_engine",
        "interface.in_flight": 1.0,
        "workload.granularity_byte": 65536.0,
    }
    assert answer.pick.quantities["total_power_w"] == pytest.approx(0.855, abs=5e-4)
    # host: 435 cycles of 3 GHz per 64 KiB
    cores = 100e9 / (8 * 65536) * 435 / 3e9
    assert answer.pick.quantities["host_cores"] == pytest.approx(cores)


@pytest.mark.parametrize(
    ("device", "overhead", "clock", "cores"),
    [("ultrasparc_t2", 29e3, 1.16e9, 8), ("sparc_t3", 27e3, 1.65e9, 16)],
)
def test_an_infeasible_interface_is_told_with_its_host_cores(
    ask, device: str, overhead: float, clock: float, cores: int
) -> None:
    answer = ask(CRYPTO, overrides=PACKETS)
    entry = other(answer, device)
    needed = 100e9 / (8 * 1500) * overhead / clock
    assert entry.design is None
    host, rate = entry.shortfalls
    assert (host.value, host.limit) == (pytest.approx(needed), cores)
    assert host.design.quantities["throughput_bit_per_s"] == pytest.approx(100e9)
    # the cores it has carry no more than their share; the best in-flight value stays below it
    assert 0.8 * 100e9 * cores / needed < rate.value <= 100e9 * cores / needed
    # a cost is compared only of a design that does what is asked
    label = entry.closest.labels[device]
    assert re.search(rf"^{label} \(!\) .*x$", answer.text(all=True), re.MULTILINE)
    assert re.search(r"^APU \(!\) .* [mu]s$", answer.text(all=True), re.MULTILINE)
    text = re.sub(r"\s+", " ", answer.text(all=True))
    assert f"{label} is infeasible: it needs {needed:.1f} host cores of {cores} or" in text


@pytest.mark.parametrize(("study", "quantity"), [(CRYPTO, "total_power_w"), (DES, "power_w")])
def test_every_other_choice_costs_what_a_study_of_it_alone_says(
    ask, study: Path, quantity: str
) -> None:
    answer = ask(study)
    others = [one for one in answer.others if study == DES or one.axis == "interface.device"]
    assert len(others) == 6
    for entry in others:
        path, _, design = entry.choice.rpartition(" ")
        overrides = {entry.axis: entry.choice}
        if study == DES:
            left = [design] if path == "only" else ["u1", "u1_p2", "u2", "u4", "u8"]
            overrides = {"stages.des.designs": f"[{', '.join(left)}]"}
        if entry.design is None:  # without the search for what would repair it
            prepared = studies.prepare(studies.read_study(study, [*overrides.items()]))
            assert not len(search.run_search(prepared.problem, prepared.settings).front_index)
        else:
            alone = dse.run(study, overrides=overrides).front
            assert entry.design.quantities[quantity] == alone[quantity].min()


LAW = """
workload: {rate: 5 Gbit/s}
stages:
  - {core: des, model: law, parameters: {unroll: {from: 1, to: MANY}}, instances: least}
objectives: {area: minimise}
"""


def test_many_choices_stay_readable(write) -> None:
    answer = dse.answer(write(LAW.replace("MANY", "40")))
    assert len(answer.others) == 39
    costs = [
        entry["quantities"]["area_m2"]
        for entry in answer.to_dict()["instead.des.design"]["choices"]
    ]
    assert costs == sorted(costs)
    assert "... and 24 more, which --json lists." in answer.text(all=True)
    crowd = dse.answer(write(LAW.replace("MANY", "65")))
    assert crowd.others == ()
    assert "note: des.design: 65 choices are too many to try each other one" in crowd.text(all=True)


def test_what_violates_several_constraints_names_all_of_them(ask) -> None:
    rules = {"constraints": "[host_cores <= 0.5, offload_latency <= 2 us]"}
    answer = ask(CRYPTO, overrides=PACKETS | rules, rate="10 Gbps")
    entry = other(answer, "sparc_t3")
    assert entry.together
    assert [shortfall.rule for shortfall in entry.shortfalls] == [
        "host_cores <= 0.5",
        "offload_latency <= 2 us",
    ]
    assert entry.closest.quantities["throughput_bit_per_s"] == 10e9
    free = PACKETS | {"interface.device": "sparc_t3", "workload.rate": "10 Gbps"}
    assert (
        entry.shortfalls[1].value
        == dse.run(CRYPTO, overrides=free).front["offload_latency_s"].min()
    )
    text = re.sub(r"\s+", " ", answer.text(all=True))
    assert "SPARC T3 is infeasible: it violates host_cores <= 0.5 with 13.64 host cores and" in text


def test_without_devices_the_best_of_every_other_core_is_beside_the_answer(ask) -> None:
    """By hand: the least power with one of the other designs of the paper in place of u1."""
    answer = ask(SETTOP, all=False)
    rows = {entry.design.line: entry.merit for entry in answer.others}
    assert {*rows} == {"1 u1_p2", "1 u2", "1 u4", "1 u8", "1 u16"}
    table = answer.text().partition("──\n")[2].splitlines()[:5]
    assert [line[2:].split("  ")[0] for line in table] == ["1 u1", *sorted(rows, key=rows.get)[:4]]
    assert answer.to_dict()["beside"] == {"shown": 4, "others": 5}
    assert "design (4 of 5 others)" in answer.text()


def test_of_many_cores_each_has_a_row_before_a_second_of_one(ask) -> None:
    text = ask(STUDIES / "aes_100gbps.yaml", all=False).text()
    table = text.partition("──\n")[2].splitlines()[:5]
    assert [line[2:].split(" (")[0] for line in table] == [
        *("1 AES-128", "2 AES-128", "8 AES-128", "5 AES-128", "1 AES-256"),
    ]


def test_a_preference_changes_the_answer(ask) -> None:
    few = {"stages.des.designs": "[u4, u8, u16]"}
    assert ask(DES, overrides=few, prefer="area").pick.name == "1 u8 + 2 u16"
    assert ask(DES, overrides=few, prefer="-area").pick.name == "3 u16"
    leakage = ask(DES, overrides=few, prefer="leakage_power")
    assert "Of the designs on the front it has the least leakage power, 2.85 mW" in leakage.text(
        all=True
    )
    # 10 u4 leak less, but they are not on the front
    assert other(leakage, "only u4").merit < leakage.pick.quantities["leakage_power_w"]


def test_designs_with_the_same_objectives_are_ties(ask) -> None:
    answer = ask(STUDIES / "jacobi_bandwidth.yaml", prefer="throughput")
    # from 0.4 on the power cap decides: seven clocks
    assert "jacobi.clock is free: 7 of 10 values give the same objectives." in answer.text()
    assert answer.sections[0].facts["free"] == {"jacobi.clock": {"values": 7, "of": 10}}


def test_a_number_is_told_once(ask) -> None:
    # without a host the total power is the power
    assert list(ask(DES).pick.quantities) == [
        "area_m2",
        "power_w",
        "energy_j_per_bit",
        "throughput_bit_per_s",
        "clock_hz",
    ]


# What limits it, and when it pays -----------------------------------------------------------

CHAINED = """
workload: {rate: 8 Gbit/s, chained: true, streams: 4}
stages: [{core: des, designs: [u16], instances: 1}]
objectives: {power: minimise}
"""


def test_dependent_tasks_limit_a_pipelined_core(ask, write) -> None:
    answer = dse.answer(write(CHAINED))
    assert "Bottleneck: dependence, at 10.32 Gbit/s" in answer.text(all=True)
    alone = dse.answer(write(CHAINED), rate="2 Gbps", overrides={"workload.streams": 1})
    (throughput,) = alone.pick.bottlenecks
    # one 64-bit task of 16 cycles in flight, against one task per cycle
    assert [limit.label for limit in throughput.limits] == ["dependence", "compute"]
    assert throughput.limits[0].value == pytest.approx(throughput.limits[1].value / 16)


def test_a_limit_that_is_close_is_named(ask) -> None:
    small = {"workload.granularity": "128 B"}
    text = re.sub(r"\s+", " ", ask(CRYPTO, prefer="area", overrides=small).text(all=True))
    # 100 Gbit/s / 1024 bit * (13 / 3.4 + 16 / 0.645 + 3 * (2 / 0.645 - 320 / 435.2) + 1024 / 435.2)
    close = "host cores 3.719 of 4 (7.57 % to spare) and in flight 4 of 4 (none to spare)"
    assert f"Close to a limit: {close}." in text
    assert "Close to a limit" not in ask(CRYPTO).text(all=True)


def test_the_tighter_of_link_and_memory_counts(write) -> None:
    study = """
workload: {granularity: 4 KiB}
stages: [{core: jacobi, designs: [n4], instances: 1}]
interface: {link: 1 GB/s, latency: 0 ns, overhead: 0 ns, in_flight: 2}
budget: {memory_bandwidth: 25 GB/s}
objectives: {throughput: maximise}
"""
    (throughput,) = dse.answer(write(study)).pick.bottlenecks
    assert (throughput.limits[0].label, throughput.limits[0].value) == ("link", 8e9)


@pytest.mark.parametrize("overrides", [{}, PACKETS], ids=["64 KiB", "1500 B"])
def test_the_slack_is_how_far_the_rate_can_rise(ask, overrides) -> None:
    answer = ask(CRYPTO, overrides=overrides)
    first = answer.pick.bottlenecks[0].limits[0]
    fixed = {
        **overrides,
        "des.design": f"[{next(iter(answer.pick.counts)).removeprefix('des.')}]",
        "des.instances": next(iter(answer.pick.counts.values())),
        "interface.device": answer.pick.choices["interface.device"],
        "interface.in_flight": answer.pick.choices["interface.in_flight"],
        "workload.granularity": f"{answer.pick.choices['workload.granularity_byte']} B",
    }
    reach = 100 * (1 + first.slack)
    dse.run(CRYPTO, overrides=fixed | {"workload.rate": f"{reach * 0.9999} Gbit/s"})
    with pytest.raises(InfeasibleError):
        dse.run(CRYPTO, overrides=fixed | {"workload.rate": f"{reach * 1.0001} Gbit/s"})


def test_break_even_is_where_host_and_offload_take_the_same_time(ask) -> None:
    (advice,) = ask(CRYPTO).pick.advice
    clock = ask(CRYPTO).pick.quantities["clock_hz"]
    size = advice.value  # less than 24 B, which three u16 take at once, over a link of 48 GB/s
    offload = (435 + 500) / 3e9 + 16 / clock + size / 48e9
    assert offload == pytest.approx(16.2e-9 * size, rel=1e-9)
    text = ask(CRYPTO).text(all=True)
    assert "the offload is faster above, the host is faster below" in text


def test_a_kernel_that_the_accelerator_never_beats(ask) -> None:
    slow = {"workload.kernel": "{index: 0.001 ns/B}"}
    assert "Never: the host is faster at every granularity." in ask(CRYPTO, overrides=slow).text(
        all=True
    )
    unknown = ask(CRYPTO, overrides={"workload.kernel": "null"})
    assert "note: break even is unknown: it needs workload.kernel" in unknown.text(all=True)


# Text, JSON, notebook, run folders ----------------------------------------------------------

ASKED: dict[str, dict[str, Any]] = {
    "crypto_interface_100gbps": {},
    "crypto at packets": {"overrides": PACKETS},
    "crypto by area": {"prefer": "area"},
    "des_100gbps": {},
    "des_fft_sweep": {"rate": "73 Gbps", "prefer": "area * power"},
    "jacobi_bandwidth": {"prefer": "knee"},
    "nic_crypto_100gbps": {},
    "jacobi demanded": {"rate": "20 Gbps"},
    "platforms_power_bound": {},
    "platforms at 1": {"overrides": {"workload.intensity": "1 flop/B"}},
    "settop_116mbps": {},
    "crypto with limits": {
        "rate": "10 Gbps",
        "overrides": PACKETS | {"constraints": "[host_cores <= 0.5, offload_latency <= 2 us]"},
    },
}
FILES = {
    "crypto at packets": "crypto_interface_100gbps",
    "crypto by area": "crypto_interface_100gbps",
    "crypto with limits": "crypto_interface_100gbps",
    "jacobi demanded": "jacobi_bandwidth",
    "platforms at 1": "platforms_power_bound",
}
NUMBER = re.compile(
    r"(?<![\w.])(\d[\d,]*\.?\d*(?:e[+-]?\d+)?)(x| times| %| [a-zA-Z]+2?(?:/[a-zA-Z]+)?)?"
)


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, entry in value.items():
            yield key
            yield from leaves(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from leaves(entry)
    else:
        yield value


TRADE = r"(?:Trade-off:|Compared with the design).*?\.(?= [A-Z]|$)"


def numbers(text: str) -> Iterator[tuple[str, float]]:
    """Yield every number in a text as written and in SI."""
    for number, unit in NUMBER.findall(text):
        plain = float(number.replace(",", ""))
        try:
            yield f"{number}{unit}", units.parse_any(f"{plain!r}{unit}")[0]
        except DseError:  # a word after a number without a unit
            yield f"{number}{unit}".strip(), plain


@pytest.mark.parametrize("name", ASKED)
def test_the_text_reads_well_and_every_number_of_it_is_in_the_json(ask, name: str) -> None:
    answer = ask(STUDIES / f"{FILES.get(name, name)}.yaml", **ASKED[name])
    found = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    known = [leaf for leaf in leaves(found) if isinstance(leaf, int | float)]
    names = sorted({leaf for leaf in leaves(found) if isinstance(leaf, str)}, key=len)
    counts = [re.findall(r"(?:^|-> |\+ )(\d+) ", name) for name in names]  # a table wraps designs
    known += [int(count) for some in counts for count in some]
    text = re.sub(r"\s+", " ", answer.text(all=True))
    for entry in reversed(names):  # names, and what the study says in its own words
        if re.search(r"\d", entry):
            text = re.sub(rf"(?<![\w.]){re.escape(' '.join(entry.split()))}(?!\w)", "", text)
    text = re.sub(r"([\d.]+) to ([\d.]+) (\S+)", r"\1 \3 to \2 \3", text)  # a unit for both
    text = re.sub(r"([\d.]+) of (?=[\d.]+ ([munkMG]?(?:m2|W|s)\b))", r"\1 \2 of ", text)
    trades = " ".join(re.findall(TRADE, text))
    told = list(numbers(re.sub(TRADE, "", text)))
    assert len(told) > 5
    for written, value in [*told, *numbers(trades)]:  # four digits, three of changes, two of trades
        few = 5.1e-3 if (written, value) in told else 5.1e-2
        rounding = few if written.endswith(("%", "x", "times")) else 5.1e-4
        assert any(abs(abs(entry) - value) <= rounding * value for entry in known), written
    text = answer.text(all=True)
    for entry in answer.to_dict().get("flips", {}).get("assumptions", ()):
        text = text.replace(entry["assumption"], "it")  # names, as --only takes them
    for wrong in ("nan", "inf ", "None", "_j_per", "_w ", "..", "  \n", "  ."):
        assert wrong not in text.replace("...", ""), wrong
    assert text.startswith(answer.question[:40])
    assert "<table>" in answer._repr_html_()


def test_a_notebook_shows_tables_and_escapes_what_the_study_says(write) -> None:
    study = SETTOP.read_text().replace("# Which", "# <script>x</script> & which")
    html = dse.answer(write(study))._repr_html_()
    assert "&lt;script&gt;x&lt;/script&gt; &amp; which" in html
    assert "<script>" not in html
    assert "<td>5226 um2</td>" in html
    assert "http" not in html
    assert html.count("<table>") == html.count("</table>") == 4


@pytest.mark.parametrize("study", ["settop_116mbps", "platforms_power_bound"])
def test_a_finished_run_answers_as_its_study_does(study: str, tmp_path: Path) -> None:
    dse.run(STUDIES / f"{study}.yaml", out=tmp_path / "run")
    answer = dse.answer(STUDIES / f"{study}.yaml")
    assert dse.answer(tmp_path / "run").text(all=True) == answer.text(all=True)
    assert dse.answer(tmp_path / "run").to_dict() == answer.to_dict()
    if study == SETTOP.stem:
        again = dse.answer(tmp_path / "run", rate="10 Gbps")
        assert again.text(all=True) == dse.answer(SETTOP, rate="10 Gbps").text(all=True)
        assert again.pick.quantities["throughput_bit_per_s"] == 10e9


def test_a_sweep_tells_where_nothing_is_feasible(write) -> None:
    study = CHAINED.replace("streams: 4}", "streams: 1}").replace("8 Gbit/s", "1 Gbit/s")
    answer = dse.answer(write(study + "sweep: {workload.rate: [1 Gbit/s, 8 Gbit/s]}"))
    assert answer.picks[1] is None
    assert "8 Gbit/s  none is feasible" in answer.text(all=True)


# One recommendation -------------------------------------------------------------------------

ONE = """
workload: {rate: 100 Gbit/s, granularity: 4 KiB, kernel: des}
stages: [{core: des, designs: [u8, u16], instances: least}]
axes:
  interface.device: [sparc_t4_engine, sandy_bridge]
  interface.in_flight: [1, 2, 4]
objectives: {area: minimise, total_power: minimise, offload_latency: minimise}
"""
RULES: dict[str, tuple[dict[str, str], str]] = {
    "": ({}, "the design with the least total power"),
    "area": ({"prefer": "area"}, "the design with the least area"),
    "knee": (
        {"prefer": "knee"},
        "the design with the least offload latency, as the front has no knee",
    ),
    "tolerance": (
        {"tolerance": "3 %"},
        "the design with the least area, then least offload latency, within 3 % of the least "
        "total power",
    ),
}


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize("name", RULES)
def test_every_command_names_the_same_design(name: str, write, tmp_path: Path) -> None:
    given, rule = RULES[name]
    path = write(ONE + "".join(f"{key}: {value}\n" for key, value in given.items()))
    result = dse.run(path, out=tmp_path / "run")
    said = result.manifest["recommended"]
    row = dict(result.front.iloc[said["row"] - 1])
    assert said["rule"] == rule
    words = rule.removeprefix("the design with the ").capitalize()
    assert words in re.sub(r"\s+", " ", result.text())
    svg = (tmp_path / "run" / "front.svg").read_text()
    lines = re.findall(r"<text[^>]*>(.*?)</text>", svg)  # one line each
    first = next(at for at, line in enumerate(lines) if line.startswith("recommended: "))
    legend = [" ".join(lines[first:end]) for end in range(first + 1, len(lines) + 1)]
    labels = result.shown.labels
    assert (
        f"recommended: {labelled_line(said['design'], labels)}" in legend
    )  # whole lines, however it is broken
    bare = write(ONE, "bare.yaml")
    for source, options in ((path, {}), (tmp_path / "run", {}), (bare, given)):
        answer = dse.answer(source, flips=False, **options)
        assert {key: row[key] for key in answer.pick.choices} == answer.pick.choices
        assert {key: row[key] for key in answer.pick.counts} == answer.pick.counts
    assert f"It {'is' if name == 'knee' else 'has'} the " in answer.text(all=True)
    parts = dse.flips(path, only=["granularity"]).answer
    assert ", ".join(parts) == said["design"]
    asked = {"overrides": {key: given[key] for key in ("prefer", "tolerance") if key in given}}
    held = dse.decision_map(bare, "rate=100..101Gbps", counts=True, **asked).intervals[0]
    assert held.name == said["design"]
    sure = dse.uncertainty(path, samples=1)
    assert (sure.design, sure.found.pick.answer) == (said["design"], 1.0)
    moving = dse.uncertainty(bare, sobol=True, samples=2, **asked)
    assert moving.design == said["design"]


def test_every_value_of_a_sweep_names_the_same_design(write) -> None:
    path = write(f"{ONE}tolerance: 3 %\nsweep: {{workload.rate: [20 Gbit/s, 60 Gbit/s]}}\n")
    result = dse.run(path)
    said = [point["recommended"] for point in result.manifest["points"]]
    picks = dse.answer(path).picks
    for entry, pick in zip(said, picks, strict=True):
        row = dict(result.front.iloc[entry["row"] - 1])
        assert {key: row[key] for key in pick.quantities} == pytest.approx(pick.quantities)
        assert {key: row[key] for key in pick.choices} == pick.choices
    assert said[0]["row"] < said[1]["row"]


def test_what_a_tolerance_trades_is_told(ask) -> None:
    found = ask(CRYPTO, prefer="area", tolerance="10 %")
    assert found.pick.quantities["area_m2"] == pytest.approx(173304e-12, rel=1e-5)
    text = re.sub(r"\s+", " ", found.text(all=True))
    assert (
        "Compared with the design with the least area, 5 u8, Sandy Bridge, in flight 1, "
        "granularity 64 KiB: 17 % less total power and 17 % less offload latency for "
        "1.5 % more area."
    ) in text
    trade = found.to_dict()["answer"]["trade"]
    assert trade["tolerance"] == 0.1
    assert trade["differences"]["area_m2"]["share"] == pytest.approx(173304 / 170770 - 1, rel=1e-4)
    assert "the tolerance changes nothing" in ask(CRYPTO, tolerance="1 %").text(all=True)
    assert "Compared with" not in ask(CRYPTO).text(all=True)


# What makes no sense ------------------------------------------------------------------------


def test_the_command_prints_the_same_answer_as_text_and_as_json(ask) -> None:
    data = run_dse("answer", str(SETTOP), "--json")
    assert data.returncode == 0
    assert run_dse("answer", str(SETTOP)).stdout == ask(SETTOP).text() + "\n"
    assert run_dse("answer", str(SETTOP), "--all").stdout == ask(SETTOP).text(all=True) + "\n"
    assert json.loads(data.stdout) == ask(SETTOP).to_dict()
    none = run_dse("answer", str(SETTOP), "--set", "constraints=[power <= 1 nW]", "--json")
    assert (none.returncode, json.loads(none.stdout)["conflicts"]) == (3, [["power <= 1 nW"]])


# What plug-ins declare ----------------------------------------------------------------------


def test_a_limit_per_label_is_demanded() -> None:
    quantities = registry.records(contract.Objective)
    (several,) = (quantity for quantity in quantities.values() if len(quantity.limits) > 3)
    check_objective(several)
    with pytest.raises(AssertionError, match="declares limits for 1 of its 5 labels"):
        check_objective(replace(several, limits=several.limits[:1]))


def test_declared_limits_thresholds_and_bounds_exist() -> None:
    quantities = registry.records(contract.Objective)
    for quantity in quantities.values():
        if quantity.limits:
            assert quantity.limited in quantities
            for limit in quantity.limits:
                assert set(limit.quantities) <= set(quantities)
                unit = {units.suffix(name) for name in limit.quantities}
                assert unit <= {units.suffix(quantity.limited)}
        if quantity.threshold:
            assert units.suffix(quantity.threshold.column) == units.suffix(quantity.name)
    for requirement in registry.records(contract.Requirement).values():
        assert bool(requirement.quantity) == bool(requirement.at_most or requirement.at_least)
        assert not (requirement.at_most and requirement.at_least)


def test_the_end_of_an_objective_is_preferred_before_another_quantity() -> None:
    """`latency` is a quantity of the interface, too, the same for all designs."""
    found = dse.answer(CRYPTO, prefer="latency", flips=False)
    assert found.to_dict()["preference"] == "least offload latency"


def test_an_answer_has_its_margin_to_each_constraint_of_the_study() -> None:
    found = dse.answer(STUDIES / "nic_crypto_100gbps.yaml", flips=False, all=False)
    line = "Constraints: area 0.5077 of 1 mm2 (49.2 % to spare); total power - host power 0.0275 of"
    assert line in " ".join(found.text(all=True).split())
    area, *_ = found.to_dict()["constraints"]
    assert (area["rule"], area["limit"], area["at_least"]) == ("area <= 1 mm2", 1e-6, False)
    assert area["spare"] == pytest.approx(1 - found.pick.quantities["area_m2"] / 1e-6)


@pytest.mark.parametrize("method", ["nsga2", "exact"])
def test_the_time_limits_what_other_choices_cost_and_says_what_it_ended(method: str) -> None:
    from dse.answers.answer import recommend
    from dse.answers.source import known_fronts
    from dse.search.settings import Budget

    options = [("search.method", method), ("search.budget", "300" if method == "nsga2" else "null")]
    fronts = known_fronts(studies.read_study(DES, options))
    (solved,) = fronts.points

    def found(**limits: float) -> Any:
        budget = Budget(**limits)
        return recommend(solved, solved.study.preference, fronts.options, budget=budget)

    whole, none = found(), found(seconds=0.0)
    others = len(whole.others)
    assert method == "nsga2" or others == 6
    assert [one for one in whole.others if one.design is not None]
    assert "(--time)" not in whole.text(all=True)
    beaten = len(none.others)  # what even a search that ends at once comes by
    assert beaten == (method == "exact")
    said = (
        f"ended {others} of {others} searches for other choices early"
        + ", whose designs may be beaten" * beaten
    )
    assert f"{said}; {others - beaten} found no design." in " ".join(none.text(all=True).split())
