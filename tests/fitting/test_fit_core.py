"""Laws from a table of designs: what the papers print, independent oracles, honest refusals."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import curve_fit
from scipy.stats import t

import dse
from dse.errors import DseError, StudyError
from dse.fitting.core import CoreFit, Fitted, _intervals, _laws, core_record, fit_core, fit_law
from dse.reports.text import percent
from dse.study import records
from tests.conftest import run_dse

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "cores" / "tables"
UNROLL = np.array([1.0, 2, 4, 8, 16])
SIDE = np.array([1.0, 2, 3, 4])
AREA_UM2 = np.array([5226.0, 9690, 22498, 34154, 57768])
UNROLLED = ("parameters.partition", "1")


def des(*settings: tuple[str, str], **forms: str) -> CoreFit:
    given = [("values.payload", "64 bit"), UNROLLED, *settings]
    return fit_core(TABLES / "des.csv", "des", ["unroll"], given, forms)


def jacobi(**forms: str) -> CoreFit:
    given = [("values.payload", "32 bit")]
    return fit_core(TABLES / "jacobi.csv", "jacobi", ["side"], given, forms)


def total_power(found: CoreFit) -> Fitted:
    """Fit a line to dynamic and leakage power together."""
    parts = (found.laws["dynamic_power"], found.laws["leakage_power"])
    values = sum(part.law(found.parameters) - part.residuals for part in parts)
    law = fit_law(found.parameters, np.asarray(values), "affine")
    assert law is not None
    return law


# What Battle & Hempstead print beside the laws that are nearest in relative terms.


PRINTED = [
    ("area", des(area="affine").laws["area"], UNROLL, [1374e-12, 4149e-12], [4600e-12, 3500e-12]),
    ("power", total_power(des()), UNROLL, [369e-6, 757.7e-6], [90e-6, 640e-6]),
    ("area", jacobi(area="square").laws["area"], SIDE**2, [777e-12, 677e-12], [1018e-12, 635e-12]),
    (
        "power",
        total_power(jacobi()),
        SIDE,
        [-584e-6, 1054e-6],
        [-730e-6, 1.12e-3],
    ),
]
"""Equations 2, 3, 8 and 9, the last one read as linear in n and in mW."""


@pytest.mark.parametrize(("quantity", "found", "over", "expected", "printed"), PRINTED)
def test_laws_of_a_printed_form_are_nearer_to_the_table_than_what_is_printed(
    quantity: str, found: Fitted, over: np.ndarray, expected: list[float], printed: list[float]
) -> None:
    law = np.array(found.law.coefficients)
    assert law == pytest.approx(expected, rel=1e-3)
    table = law[0] + law[1] * over - found.residuals
    off = np.log((printed[0] + printed[1] * over) / table)
    assert found.rms < 0.6 * np.sqrt(np.mean(off**2))


def test_rate_of_des_is_linear_as_equation_4() -> None:
    law = des().laws["rate"].law
    assert (law.form, law.over) == ("power", ("unroll",))
    assert law.coefficients == pytest.approx((645e6 / 16, 1.0), rel=1e-3)


def test_areas_are_predicted_better_by_a_power_of_n_than_by_the_printed_forms() -> None:
    for found, printed in ((des(), des(area="affine")), (jacobi(), jacobi(area="square"))):
        area = found.laws["area"]
        assert area.law.form == "power"
        assert printed.laws["area"].leave_one_out > 1.35 * area.leave_one_out


def test_a_record_is_as_sure_as_its_law_is_close() -> None:
    found = des(area="affine")
    core = core_record(found)[0]["core"]
    off = found.laws["area"].law({"unroll": UNROLL}) / AREA_UM2 * 1e12 - 1
    scatter = np.sqrt(np.sum(off**2) / (5 - 2))
    assert float(core["uncertainty"]["area"].split()[0]) == pytest.approx(100 * scatter, rel=2e-3)
    assert "clock" not in core["uncertainty"]  # the same everywhere


# Independent oracles.


@pytest.mark.parametrize(
    ("form", "model"),
    [
        ("affine", lambda x, a, b: np.log(a + b * x)),
        ("square", lambda x, a, b: np.log(a + b * x**2)),
        ("power", lambda x, a, b: np.log(a * x**b)),
        ("exponential", lambda x, a, b: np.log(a * np.exp(b * x))),
    ],
)
def test_a_law_is_that_of_curve_fit(form: str, model: Callable[..., np.ndarray]) -> None:
    found = fit_law({"n": UNROLL}, AREA_UM2, form)
    assert found is not None
    start = (5000, 100 if form in ("affine", "square") else 0.1)
    best, covariance = curve_fit(model, UNROLL, np.log(AREA_UM2), p0=start, xtol=1e-12, ftol=1e-12)
    assert found.law.coefficients == pytest.approx(best, rel=1e-5)
    width = t.ppf(0.975, 3) * np.sqrt(np.diag(covariance))
    assert found.intervals[1] == pytest.approx((best[1] - width[1], best[1] + width[1]), rel=1e-4)
    left_out = []
    for point in range(5):
        rest = np.arange(5) != point
        other, _ = curve_fit(model, UNROLL[rest], np.log(AREA_UM2[rest]), p0=best)
        left_out.append(model(UNROLL[point], *other) - np.log(AREA_UM2[point]))
    assert found.leave_one_out == pytest.approx(np.sqrt(np.mean(np.square(left_out))), rel=1e-3)


@pytest.mark.parametrize(("form", "true"), [("affine", (500.0, 3000.0)), ("power", (5000.0, 0.9))])
def test_intervals_hold_the_truth_as_often_as_they_say(
    form: str, true: tuple[float, float]
) -> None:
    """Over three decades, with relative errors."""
    n = np.geomspace(1, 1000, 7)
    exact = true[0] * n ** true[1] if form == "power" else true[0] + true[1] * n
    held = []
    for errors in np.random.default_rng(1).normal(0, 0.05, (300, 7)):
        values = exact * np.exp(errors)
        law = next(_laws({"n": n}, values, form))
        pairs = zip(_intervals(law, {"n": n}, values), true, strict=True)
        held.append([low <= value <= high for (low, high), value in pairs])
    shares = np.mean(held, axis=0)
    assert ((shares >= 0.92) & (shares <= 0.98)).all()


def test_a_constant_is_taken_for_a_law_once_in_twenty() -> None:
    noise = np.random.default_rng(1).normal(0, 0.05, (300, 5))
    found = [fit_law({"n": UNROLL}, 5e8 * np.exp(errors)) for errors in noise]
    forms = [one.law.form for one in found if one is not None]
    assert 0.02 <= 1 - forms.count("constant") / 300 <= 0.08


def test_zeros_are_fitted_by_errors_that_are_shares_of_the_mean() -> None:
    found = fit_law({"n": SIDE}, np.array([0.0, 1.0, 2.0, 3.0]))
    assert found is not None
    assert (found.law.form, found.rms) == ("affine", 0.0)
    assert found.law.coefficients == pytest.approx((-1.0, 1.0))


def test_the_law_behind_exact_data_is_found() -> None:
    x, y = (values.ravel() for values in np.meshgrid([1.0, 2, 4, 8], [8.0, 16, 32]))
    parameters = {"x": x, "y": y}
    truths = {
        ("affine", ("x", "y")): 5 + 2 * x + 0.25 * y,
        ("square", ("y",)): 5 + 0.5 * y**2,
        ("power", ("x", "y")): 3 * x**1.2 * y**0.5,
        ("exponential", ("x", "y")): 2 * np.exp(0.3 * x + 0.01 * y),
        ("constant", ()): np.full(12, 7.0),
    }
    for (form, over), values in truths.items():
        found = fit_law(parameters, values)
        assert found is not None
        assert (found.law.form, found.law.over) == (form, over)
        assert found.law(parameters) == pytest.approx(values, rel=1e-9)
        assert found.leave_one_out <= 1e-6 * values.max()


def test_a_law_does_not_change_with_the_units_or_the_order_of_the_data() -> None:
    found, scaled = (fit_law({"n": UNROLL}, AREA_UM2 * by) for by in (1.0, 1e-12))
    turned = fit_law({"n": UNROLL[::-1]}, AREA_UM2[::-1])
    assert found is not None
    assert scaled is not None
    assert turned is not None
    first, *rest = found.law.coefficients
    assert scaled.law.coefficients == pytest.approx((first * 1e-12, *rest), rel=1e-6)
    assert turned.law.coefficients == pytest.approx(found.law.coefficients, rel=1e-6)


def test_a_law_needs_a_point_more_than_it_has_coefficients() -> None:
    two = {"n": np.array([1.0, 2.0])}
    assert fit_law(two, np.array([3.0, 5.0]), "affine") is None
    assert fit_law({"n": np.array([1.0, 1, 1])}, np.array([3.0, 4, 5]), "power") is None
    x, y = {"x": SIDE[:3], "y": SIDE[:3] ** 2}, np.array([3.0, 5, 9])
    assert {len(law.over) for law in _laws(x, y, "affine")} == {1}
    # without one of its points the others do not determine the law
    assert fit_law({"n": np.array([1.0, 1, 1, 2])}, np.array([1.0, 2, 3, 9]), "affine") is None


def test_a_law_that_would_be_negative_on_its_range_is_not_taken() -> None:
    found = fit_law({"n": SIDE}, np.array([0.1, 0.2, 0.9, 2.6]))
    assert found is not None
    assert found.law({"n": SIDE}).min() > 0
    assert fit_law({"n": SIDE}, np.array([0.1, 0.2, 0.9, 2.6]), "affine") is None


# Tables and records.


def message(table: str, tmp_path: Path, *settings: tuple[str, str], **options: object) -> list[str]:
    path = tmp_path / "t.csv"
    path.write_text(table)
    with pytest.raises(DseError) as caught:
        fit_core(path, "t", settings=settings, **options)  # type: ignore[arg-type]
    return str(caught.value).replace(f"{path}", "t.csv").splitlines()


HEADER = "design,n,area_um2,power_mw,clock_mhz,cycles_per_task,payload_bit\n"


def test_a_column_of_words_gets_a_name_with_which_the_fit_works(tmp_path: Path) -> None:
    header = HEADER.replace("cycles_per_task", "Cycles per block")
    rows = "a,1,10,1,500,16,64\nb,2,20,2,500,8,64\nc,3,30,4,500,4,64\n"
    (text,) = message(header + rows, tmp_path, over=["Cycles per block"])
    assert text == (
        "'Cycles per block'; a parameter is called by letters, digits and underscores; call it "
        'so: --set "columns.cycles_per_block=Cycles per block" --over cycles_per_block'
    )
    settings = [("columns.cycles_per_block", "Cycles per block")]
    fitted = fit_core(tmp_path / "t.csv", "t", ["cycles_per_block"], settings)
    assert list(fitted.parameters) == ["cycles_per_block"]


def test_designs_are_chosen_by_name_as_by_value() -> None:
    payload = ("values.payload", "64 bit")

    def named(designs: str) -> CoreFit:
        settings = [payload, ("designs", designs)]
        return fit_core(TABLES / "des.csv", "des", ["unroll"], settings)

    found = named("[u1, u2, u4, u8, u16]")
    assert found.designs == ("u1", "u2", "u4", "u8", "u16")
    assert found.laws["area"].law == des().laws["area"].law
    with pytest.raises(StudyError, match=r"'u3'; the table has no such design; did you mean 'u"):
        named("[u3]")


def test_a_record_is_the_law_and_says_where_it_comes_from(tmp_path: Path) -> None:
    found = des()
    path = tmp_path / "des.yaml"
    records.write_record(path, *core_record(found))
    read = records.read_record(path)
    model = read.records["core"].models["law"]
    unroll = np.array([0.5, 1.0, 16.0, 17.0])
    metrics = model.function(unroll=unroll)
    area, rate = (found.laws[name].law({"unroll": unroll}) for name in ("area", "rate"))
    assert metrics.area_m2 == pytest.approx(area, rel=1e-10)
    assert metrics.extrapolated.tolist() == [1, 0, 0, 1]
    assert metrics.clock_hz / metrics.cycles_per_task == pytest.approx(rate)
    assert {"file", "sha256", "date", "method", "range", "residuals"} <= set(read.provenance)
    assert read.provenance["range"] == {"unroll": [1, 16]}
    assert read.provenance["sha256"] == found.table.sha256
    residuals = read.provenance["residuals"]["area"]
    assert residuals["rms"] == percent(found.laws["area"].rms)
    assert residuals["law"].startswith("5540 um2 * unroll^")


def test_cycles_that_are_exact_are_not_blurred_by_a_clock_that_is_not(tmp_path: Path) -> None:
    rows = "a,1,9,1,500,16,64\nb,2,20,2,490,8,64\nc,4,30,3,470,4,64\nd,8,60,7,471,2,64\n"
    path = tmp_path / "t.csv"
    path.write_text(HEADER + rows)
    laws = fit_core(path, "t", ["n"]).laws
    assert laws["cycles_per_task"].law.coefficients == pytest.approx((16, -1), rel=1e-9)
    assert set(laws) == {"area", "clock", "dynamic_power", "payload", "cycles_per_task"}
    assert "rate" in fit_core(path, "t", ["n"], forms={"rate": "power"}).laws


def test_latency_and_tasks_in_flight_follow_from_each_other(tmp_path: Path) -> None:
    header = HEADER.replace("\n", ",latency_cycles\n")
    path = tmp_path / "t.csv"
    path.write_text(header + "a,1,9,1,500,16,64,20\nb,2,20,2,490,8,64,20\nc,4,30,3,470,4,64,20\n")
    sections, _ = core_record(fit_core(path, "t", ["n"]))
    assert sections["core"]["laws"]["latency"] == "20 cycles"
    records.write_record(tmp_path / "t.yaml", sections, {})
    model = records.read_record(tmp_path / "t.yaml").records["core"].models["law"]
    metrics = model.function(n=np.array([1.0, 2, 4]))
    assert metrics.tasks_in_flight.tolist() == [2, 3, 5]


def test_the_command_from_elsewhere_with_the_line_ends_of_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "my work"
    folder.mkdir()
    text = (TABLES / "des.csv").read_text().replace("\n", "\r\n")
    (folder / "my des.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        options = ("--over", "unroll", "--out", "my work/law.yaml", *arguments)
        settings = ("--set", "values.payload=64 bit", "--set", "parameters.partition=1")
        return run_dse("fit", "core", "my work/my des.csv", *options, *settings, cwd=tmp_path)

    done = command("--json")
    assert (done.returncode, done.stderr) == (0, "")
    area = json.loads(done.stdout)["laws"]["area_m2"]
    assert area["coefficients"] == pytest.approx([5540.16e-12, 0.875047], rel=1e-5)
    again = command()
    assert again.returncode == 2
    assert "is there already; name another file, or delete it" in again.stderr
    (folder / "law.yaml").unlink()
    assert "1374 um2 +" in command("--form", "area=affine").stdout
    (folder / "study.yaml").write_text(
        "workload: {rate: 100 Gbit/s}\n"
        "stages: [{core: law.yaml, parameters: {unroll: {from: 1, to: 16}}}]\n"
        "objectives: {area: minimise, power: minimise}\n"
    )
    result = dse.run(folder / "study.yaml")
    assert any("core law comes from law.yaml" in note for note in result.manifest["notes"])
    assert any("my des.csv" in note for note in result.manifest["notes"])
    least = result.front["area_m2"].min()
    # three cores of 16 rounds each carry 3 * 41.3 Gbit/s
    assert least <= 3 * (1374 + 16 * 4149) * 1e-12
