"""A design has one name: what is printed is read back, and what names nothing is refused."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from dse.errors import StudyError
from dse.model.labels import labelled_line
from dse.runs.design_names import exact_name, read_design
from dse.study.overrides import sweep_of
from tests.conftest import STUDIES

STAGES = ("des_100gbps", "crypto_interface_100gbps", "hash_100gbps", "tls_100gbps")


@pytest.mark.parametrize("name", [*STAGES, "des_fft_sweep", "platforms_power_bound"])
def test_what_is_printed_of_a_design_names_it_in_full(name: str) -> None:
    found = dse.load(STUDIES / f"{name}.yaml")
    problem, sweep = found.problem, sweep_of(found.document)
    at = [] if sweep is None else [f"{sweep.path}={sweep.written[0]}"]
    rng = np.random.default_rng(0)
    drawn = [np.array([rng.integers(size) for size in problem.sizes]) for _ in range(5)]
    for point in (*drawn, *problem.hosts[:2]):
        for shown in {exact := exact_name(problem, point), labelled_line(exact, problem.labels)}:
            value, _, index = read_design([*at, shown], found.document, sweep)
            assert (value, index.tolist()) == (0, [point.tolist()])


@pytest.mark.parametrize(
    "written",
    [
        "4 u16, apu, in flight 8, granularity 64 KiB",
        "4 des.u16 with device apu, in flight 8 and granularity 64 KiB",
        "u16, des.instances=4, apu, in flight 8, workload.granularity_byte=65536",
    ],
)
def test_a_design_is_read_in_each_form_that_is_printed(written: str) -> None:
    fields = "des.u16=4 interface.device=apu interface.in_flight=8 workload.granularity=64 KiB"
    found = dse.load(STUDIES / "crypto_interface_100gbps.yaml").document
    as_fields, as_written = (read_design(one, found, None)[2] for one in (fields, written))
    assert as_written.tolist() == as_fields.tolist()


def test_every_part_that_names_nothing_is_refused_with_what_it_may_be() -> None:
    found = dse.load(STUDIES / "crypto_interface_100gbps.yaml").document
    with pytest.raises(StudyError) as caught:
        read_design("1 u9, apus, in flght 8, 2 u16 -> 3 u8", found, None)
    assert str(caught.value).splitlines() == [
        "design: 1 u9; the study has no such design; did you mean 'u8' or 'u4' or 'u2'?",
        "design: apus; the study has no such design or choice; did you mean 'apu'?",
        "design: in flght 8; the study has no such design or choice; did you mean 'in flight 256'?",
        "design: 2 u16 -> 3 u8; it has 2 fleets, and the study 1 stage: des; "
        'join one fleet per stage by " -> "',
    ]
