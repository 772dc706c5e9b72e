"""The scoreboard of spaces known whole: what it says follows from the searches it keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import samplers, spaces
from benchmarks.expensive import made_up, trial

SEARCHES = [
    {"space": space, "method": method, "seed": seed, "curve": [0.5, 0.8 + 0.1 * seed, 1.0]}
    for seed in (1, 0)
    for space in ("nw", "dct")
    for method in ("tpe", "gaussian")
]


def test_table_and_picture_do_not_depend_on_the_order_of_searches(tmp_path: Path) -> None:
    found = []
    for number, searches in enumerate((SEARCHES, SEARCHES[::-1])):
        path = tmp_path / f"{number}.png"
        spaces.draw(searches, path)
        found.append(("\n".join(spaces.lines_of(searches)), path.read_bytes()))
    assert found[0] == found[1]
    text = found[0][0]
    assert "| dct | gaussian | 2 | - | - | - | - | 2.5 [2/2] | 3 [2/2] |" in text
    assert "/dct.mat" not in text
    assert f"Not measured: {spaces.SPECTOR}/fir.mat" in text


def test_another_file_is_refused_and_missing_ones_are_not_there(tmp_path: Path) -> None:
    assert [name for name, _ in spaces.there(tmp_path)] == ["fleets"]
    (tmp_path / "dct.mat").write_bytes(b"another")
    with pytest.raises(SystemExit, match=r"dct\.mat: its SHA-256 is not 48fb6577c460a4b9"):
        [*spaces.there(tmp_path)]


def test_methods_of_others_are_there_as_far_as_they_are_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(samplers, "find_spec", lambda name: name == "smac" or None)
    assert spaces.peers()[-1] == "smac3"
    assert "gp-sampler" not in spaces.peers()


@pytest.mark.parametrize("name", samplers.PEERS)
def test_a_method_of_others_evaluates_designs_once_each(name: str) -> None:
    pytest.importorskip(samplers.PEERS[name])
    assert len(trial(made_up(), name, 0, 12)["curve"]) == 12
