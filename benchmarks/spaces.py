"""The scoreboard of searches: every public space known whole, every method, one table and picture.

    python -m benchmarks.spaces DIR [--seeds 10] [--budget 200] [--methods gaussian tpe ...]

DIR holds the files of `PUBLIC`, which are other people's and not part of this project; each is
checked against its hash, and the spaces whose file is not there are listed.  Searches are kept in
DIR/searches.jsonl and not run again; DIR/scoreboard.md and DIR/scoreboard.png follow from them bit
for bit, as they hold no times.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.expensive import (
    BUDGETS,
    POPULATION,
    Table,
    black_scholes,
    made_up,
    needed_text,
    shares_text,
    spector,
    trial,
)
from benchmarks.plot import COLOURS
from benchmarks.samplers import installed
from dse.contract import Method
from dse.plugins import registry

SPECTOR = "https://github.com/KastnerRG/spector/raw/master/results_and_analysis"
HYPERMAPPER = "https://github.com/luinardi/hypermapper/raw/master/tests/data"

DEVELOPED, CHOSEN, UNSEEN = "to develop it", "to choose its first designs", "not at all"
"""What `gaussian` used a space for before it was frozen."""


@dataclass(frozen=True)
class Public:
    """A space that a reader can fetch: its file, the beginning of its SHA-256, and its use."""

    url: str
    sha256: str
    seen: str
    read: Callable[[Path], Table]

    @property
    def file(self) -> str:
        return self.url.rpartition("/")[2]


def _kernel(file: str, sha256: str, seen: str) -> Public:
    return Public(f"{SPECTOR}/{file}.mat", sha256, seen, spector)


def _pricing(*, limited: bool) -> Public:
    url = f"{HYPERMAPPER}/BlackScholes_exhaustive_search_data.csv"
    return Public(url, "66030bf7ca61d14e", DEVELOPED, partial(black_scholes, limited=limited))


PUBLIC = {
    "bfs": _kernel("bfs_dense", "bf247461f90bc91e", CHOSEN),
    "bfs, sparse": _kernel("bfs_sparse", "a63cbcc612f2c13c", UNSEEN),
    "bs": _pricing(limited=False),
    "bs, 4 % valid": _pricing(limited=True),
    "dct": _kernel("dct", "48fb6577c460a4b9", UNSEEN),
    "fir": _kernel("fir", "f0c9f8c85af67c90", DEVELOPED),
    "hist": _kernel("hist", "ce7b588e7f396158", CHOSEN),
    "mergesort": _kernel("mergesort", "97a451eb5af635e8", CHOSEN),
    "mm": _kernel("mm", "7d82561332bd8e7d", DEVELOPED),
    "normals": _kernel("normals", "c4dbd1cf393d9599", CHOSEN),
    "nw": _kernel("nw", "c4ae2cbd4c75b3e0", UNSEEN),
    "sobel": _kernel("sobel", "e26f0943ba7cb9a6", DEVELOPED),
    "spmv": _kernel("spmv_5000", "6b1941b8248b565a", CHOSEN),
    "spmv, 500 000": _kernel("spmv_500000", "ee6fb168dc082972", UNSEEN),
}
"""Not the contest table of ICCAD 2022 (15 633 BOOM cores): its README calls it a dummy, and no law
of its knobs predicts the rows of decode widths 2 to 5."""

HEADERS = ("space", "method", "seeds", *map(str, BUDGETS), "to 90 %", "to 95 %")


def there(folder: Path) -> Iterator[tuple[str, Callable[[], Table]]]:
    """Yield the spaces whose file is in a folder, each read when it is needed.

    Raises
    ------
    SystemExit
        A file is another one than that which was measured.
    """
    for name, public in PUBLIC.items():
        path = folder / public.file
        if not path.is_file():
            continue
        if not hashlib.sha256(path.read_bytes()).hexdigest().startswith(public.sha256):
            raise SystemExit(f"{path}: its SHA-256 is not {public.sha256}..., as of {public.url}")
        yield name, partial(public.read, path)
    yield "fleets", made_up


def peers() -> list[str]:
    """Return the methods that sample, ours and those of others that are installed."""
    known = [name for name in registry.names(Method) if not registry.get(Method, name).proves]
    return [*known, *installed()]


def lines_of(searches: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table in Markdown: medians and ranges over seeds."""
    yield f"| {' | '.join(HEADERS)} |"
    yield "|---" * len(HEADERS) + "|"
    for (space, method), curves in grouped(searches).items():
        cells = [shares_text([one[at - 1] for one in curves if at <= len(one)]) for at in BUDGETS]
        cells += [needed_text(curves, share) for share in (0.9, 0.95)]
        yield f"| {' | '.join([space, method, str(len(curves)), *cells])} |"
    yield ""
    for seen in (DEVELOPED, CHOSEN, UNSEEN):
        names = "; ".join(name for name, public in PUBLIC.items() if public.seen == seen)
        yield f"Used {seen}: {names}{'; fleets' if seen == DEVELOPED else ''}."
    measured = {one["space"] for one in searches}
    yield "bfs, sparse and spmv, 500 000 are kernels of bfs and spmv on other data."
    missing = [public.url for name, public in PUBLIC.items() if name not in measured]
    yield from [f"Not measured: {url}" for url in dict.fromkeys(missing)]


def grouped(searches: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[list[float]]]:
    """Return the curves of each space and method, sorted, by seed."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    for one in sorted(searches, key=lambda one: (one["space"], one["method"], one["seed"])):
        found.setdefault((one["space"], one["method"]), []).append(one["curve"])
    return found


def draw(searches: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the median share after each evaluation, a panel for each space."""
    curves = grouped(searches)
    spaces = list(dict.fromkeys(space for space, _ in curves))
    methods = sorted({method for _, method in curves})
    columns = min(4, len(spaces))
    rows = -(-len(spaces) // columns)
    with mpl.rc_context({"font.size": 8}):
        figure = Figure(figsize=(3.0 * columns, 2.3 * rows + 0.4), dpi=120, layout="constrained")
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for panel, space in itertools.zip_longest(panels, spaces):
            if space is None:
                panel.set_axis_off()
                continue
            for method, colour in zip(methods, itertools.cycle(COLOURS), strict=False):
                if runs := curves.get((space, method)):
                    middle = [statistics.median(column) for column in zip(*runs, strict=False)]
                    panel.plot(range(1, len(middle) + 1), middle, color=colour, label=method)
            panel.set(title=space, ylim=(0, 1.02))
            panel.grid(alpha=0.3)
        figure.supxlabel("designs evaluated")
        figure.supylabel("share of the hypervolume, median")
        labels = {line.get_label(): line for panel in panels for line in panel.get_lines()}
        figure.legend([*labels.values()], [*labels], loc="outside upper center", ncols=6)
        figure.savefig(path, metadata={"Software": None})


def main() -> None:
    """Search what is not searched yet, and write the table and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the files of the spaces, and the results")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--budget", type=int, default=BUDGETS[-1])
    parser.add_argument("--methods", nargs="*", default=peers())
    parser.add_argument("--only", nargs="*", help="names of spaces")
    given = parser.parse_args()
    kept = given.folder / "searches.jsonl"
    kept.touch()
    searches = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    done = {(one["space"], one["method"], one["seed"]) for one in searches}
    for name, read in there(given.folder):
        wanted = itertools.product(given.methods, range(given.seeds))
        left = [pair for pair in wanted if (name, *pair) not in done]
        if not left or (given.only and name not in given.only):
            continue
        table = read()
        for method, seed in left:
            curve = trial(table, method, seed, given.budget, population=POPULATION.get(method, 20))
            one = {"space": name, "method": method, "seed": seed, "curve": curve["curve"]}
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(one) + "\n")
            searches.append(one)
    text = "\n".join(lines_of(searches)) + "\n"
    (given.folder / "scoreboard.md").write_text(text, encoding="utf-8")
    if searches:
        draw(searches, given.folder / "scoreboard.png")
    print(text, end="")


if __name__ == "__main__":
    main()
