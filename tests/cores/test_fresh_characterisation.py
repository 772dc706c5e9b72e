"""The shipped tables made again, and their front: where the library of one of them is at hand.

``DSE_LIBERTY`` names its files, with ``:`` between them, and ``DSE_TABLE`` the core; this takes
minutes::

    DSE_LIBERTY=sky130hd_tt_025C_1v80.lib.gz DSE_TABLE=des_sky130 \\
        python -m pytest tests/cores/test_fresh_characterisation.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

import dse
from tests.conftest import ROOT, STUDIES

FILES = [file for file in os.environ.get("DSE_LIBERTY", "").split(":") if file]
TABLE = os.environ.get("DSE_TABLE", "des_sky130")
PARTS = (
    ("structure=pipelined,two_stage", "unroll=1,2,4,8,16"),
    ("structure=chained", "unroll=2,4"),
)


@pytest.mark.skipif(not FILES, reason="DSE_LIBERTY names no library")
def test_a_fresh_characterisation_gives_the_shipped_table_and_its_front(tmp_path: Path) -> None:
    for number, over in enumerate(PARTS):
        part = tmp_path / f"{number}.csv"
        dse.characterise("des", library=FILES, over=over, gate_clocks=8, out=part, cache=False)
    parts = [pd.read_csv(tmp_path / f"{number}.csv", comment="#") for number in range(len(PARTS))]
    made = pd.concat(parts).set_index("design")
    shipped = pd.read_csv(ROOT / "cores" / "tables" / f"{TABLE}.csv", comment="#")
    shipped = shipped.set_index("design")
    assert {*made} >= {*shipped}  # a shipped core has its uncertainty from elsewhere
    pd.testing.assert_frame_equal(made.loc[shipped.index, [*shipped]], shipped, rtol=1e-6)
    made.loc[shipped.index].to_csv(tmp_path / "made.csv")
    fronts = []
    for source in (f"core: {TABLE}", f"table: {tmp_path / 'made.csv'}"):
        study = tmp_path / "study.yaml"
        text = (STUDIES / "des_100gbps.yaml").read_text("utf-8")
        study.write_text(text.replace("core: des\n", f"{source}\n    name: des\n"))
        fronts.append(dse.run(study).front)
    pd.testing.assert_frame_equal(*fronts, rtol=1e-9)
    assert len(fronts[0]) > 0
