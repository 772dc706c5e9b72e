"""A fitted interface: the verdict first, then the numbers behind it, and the record for a study."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dse.algebra import units
from dse.errors import DseError
from dse.fitting.curves import PER_BYTE, Array, CurveModel, Estimate, fit_model
from dse.fitting.timings import Timings
from dse.reports.text import Printable, interval, listed, paragraph, percent
from dse.study import core_models, records

_METHOD = "LogCA by least squares of log time, 95 % intervals"

POLLING = 0.95
"""A core that is busier than this during an offload waits for it by polling."""

LARGEST_BYTE = 2.0**64
"""As far as a 64-bit address reaches.  Beyond it nothing pays any more."""

_GRID = np.linspace(math.log(1e-3), math.log(LARGEST_BYTE), 4001)

Ranges = tuple[tuple[float, float], ...]
"""Granularities in bytes, in ascending order.  0 and infinity are open ends."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Verdict:
    """From which size on an offload is better than the host, in one respect."""

    model: CurveModel

    @cached_property
    def pays(self) -> Ranges:
        """Sizes at which the model's host is not better."""
        return _ranges(self.model.gap)

    @cached_property
    def crossings(self) -> tuple[Estimate, ...]:
        """The ends of these ranges with their intervals.  0 or infinity for an open end."""
        around = _ranges(self.model.inside) if self.pays else ()
        return tuple(
            Estimate(end, *next((one for one in around if one[0] <= end <= one[1]), (end, end)))
            for pair in self.pays
            for end in pair
            if 0 < end < math.inf
        )

    @cached_property
    def of_data(self) -> Ranges:
        """Sizes at which the measured offload is not worse, by straight lines of logarithms."""
        host, offload = self.model.known_host, self.model.offload
        x, gain = np.log(offload.size), np.log(host.time / offload.time)
        wins = gain >= 0
        last = np.flatnonzero(wins[1:] != wins[:-1])
        share = gain[last] / (gain[last] - gain[last + 1])
        inner = np.exp(x[last] + share * (x[last + 1] - x[last])).tolist()
        edges = [*[0.0] * int(wins[0]), *inner, *[math.inf] * int(wins[-1])]
        return tuple(zip(edges[::2], edges[1::2], strict=True))

    @property
    def doubt(self) -> str:
        """Why the model gives no threshold, nothing if it does."""
        bad = {name: curve for name, curve in self.model.curves.items() if not curve.fits}
        if bad:
            noise = percent(max(curve.noise for curve in bad.values()))
            steps = [f"{name} at {size_text(one.step)}" for name, one in bad.items() if one.step]
            step = f", which steps: {listed(steps)}" * bool(steps)
            return f"the model does not fit the {listed(list(bad))}{step} (noise {noise})"
        is_open = any(one.low == 0 and one.high == math.inf for one in self.crossings)
        return "the noise leaves the break-even open" if is_open else ""

    @property
    def measured(self) -> str:
        """At which sizes the measured offload is better."""
        ends = any(0 < end < math.inf for pair in self.of_data for end in pair)
        return _where(self.of_data, size_text) + ", interpolated" * ends

    @property
    def says(self) -> str:
        """The verdict: ``never``, ``always``, ``from 8.4 KiB (7.1 to 9.8)``."""
        if self.doubt:
            return "measured only: no model fits"
        smallest, largest = self.model.offload.size[[0, -1]]
        inside = tuple(one for one in self.pays if one[0] <= largest and one[1] >= smallest)
        if inside and inside[0][0] <= smallest and inside[0][1] >= largest:
            return "always"
        return _where(inside, self._with_interval) if inside else "never"

    def text(self) -> str:
        """Return the verdict with its reason."""
        if self.doubt:
            return f"{self.says}, because {self.doubt}; measured {self.measured}"
        host, offload = self.model.known_host, self.model.offload
        smallest, largest = host.size[[0, -1]]
        reasons = {"never": "the host is at every size", "always": "at every size"}
        text = f"{self.says}, {reasons.get(self.says, 'of the sizes')} measured, "
        text += f"{size_text(smallest)} to {size_text(largest)}"
        ends = [one.value for one in self.crossings]
        beyond = [self._with_interval(end) for end in ends if not smallest <= end <= largest]
        if beyond:
            text += f"; the model changes at {listed(beyond)}"
        other = [
            size_text(size)
            for size, gap in zip(host.size, host.time - offload.time, strict=True)
            if not any(one.low <= size <= one.high for one in self.crossings)
            and gap != 0
            and any(low <= size <= high for low, high in self.pays) != (gap > 0)
        ]
        return text + f"; measured otherwise at {listed(other)}" * bool(other)

    def _with_interval(self, end: float) -> str:
        """Return an end with its interval, in the unit of the end."""
        text = size_text(end)
        _, low, high = next(one for one in self.crossings if one.value == end)
        factor = units.parse(f"1 {text.split()[1]}", "size_byte")
        ends = [f"{float(f'{one / factor:.3g}'):g}" for one in (low, high)]
        if not low < high:
            return text
        return f"{text} ({ends[0]} {'or more' if math.isinf(high) else f'to {ends[1]}'})"

    def to_dict(self) -> dict[str, Any]:
        """Return verdict and thresholds as plain data."""
        return {
            "verdict": self.says,
            "doubt": self.doubt,
            "crossings_byte": [crossing._asdict() for crossing in self.crossings],
            "pays_byte": [list(ends) for ends in self.pays],
            "pays_in_data_byte": [list(ends) for ends in self.of_data],
        }


def _ranges(value: Callable[[Array], Array]) -> Ranges:
    """Return the ranges with a function of log g of 0 or more.  Ends lie on roots or are open."""
    from scipy.optimize import brentq

    def root(low: float, high: float) -> float:
        return math.exp(brentq(lambda x: float(value(np.array([x]))[0]), low, high, xtol=1e-13))

    edges = np.diff(np.concatenate([[0], value(_GRID) >= 0, [0]]))
    spans = zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1, strict=True)
    last = len(_GRID) - 1
    return tuple(
        (
            0.0 if start == 0 else root(_GRID[start - 1], _GRID[start]),
            math.inf if stop == last else root(_GRID[stop], _GRID[stop + 1]),
        )
        for start, stop in spans
    )


def _where(found: Ranges, show: Callable[[float], str]) -> str:
    """Return ranges of granularity in words."""
    if found in ((), ((0.0, math.inf),)):
        return "at every size" if found else "at no size"
    parts = []
    for start, stop in found:
        pair = [f"from {show(start)}"] if start > 0 else []
        pair += [f"up to {show(stop)}"] if stop < math.inf else []
        parts.append(" ".join(pair))
    return listed(parts)


def size_text(size: float) -> str:
    """Return a size to three digits: ``197 B``, ``8.4 KiB``."""
    power = min(max(int(math.log2(size) // 10), 0), 3)
    return f"{float(f'{size / 1024**power:.3g}'):g} {('B', 'KiB', 'MiB', 'GiB')[power]}"


@dataclass(frozen=True, repr=False, kw_only=True, eq=False)
class InterfaceFitReport(Printable):
    """A fitted interface and kernel.  Its text is printed by `dse fit interface`."""

    timings: Timings
    model: CurveModel

    @cached_property
    def verdict(self) -> Verdict | None:
        """From which size on an offload is faster.  None without a host."""
        return None if self.model.host is None else Verdict(model=self.model)

    @cached_property
    def frees(self) -> Verdict | None:
        """Size from which an offload needs less time of the host's cores.  None if unknown."""
        data = self.timings
        if data.host is None or data.offload_cpu is None:
            return None
        busy = data.host if data.host_cpu is None else data.host * data.host_cpu
        return Verdict(model=fit_model(data.size, busy, data.offload * data.offload_cpu))

    @cached_property
    def unseen(self) -> dict[str, Array]:
        """Times of each curve at each size, predicted from the other sizes."""
        size, host, offload = self.timings.size, self.timings.host, self.timings.offload
        rows: dict[str, list[float]] = {name: [] for name in self.model.curves}
        for gone in range(len(size)):
            kept = np.arange(len(size)) != gone
            model = fit_model(size[kept], None if host is None else host[kept], offload[kept])
            for name, curve in model.curves.items():
                rows[name].append(float(curve.at(size[[gone]])[0]))
        return {name: np.array(times) for name, times in rows.items()}

    def missed(self, name: str) -> float:
        """Return by how much a size is missed by the curve through the others, at most."""
        return float(np.max(np.abs(self.model.curves[name].time / self.unseen[name] - 1)))

    def text(self) -> str:
        """Return a fit as text."""
        sizes = self.timings.size
        where = ", ".join(name for name, _ in self.timings.files)
        ends = f"{len(sizes)} sizes from {size_text(sizes[0])} to {size_text(sizes[-1])}"
        facts = [f"{name}: {value}" for name, value in self.timings.facts.items()]
        lines = [*self.verdicts(), *self.figures(), self.adequacy(), *self.notes()]
        said = (paragraph(line, "  ") for line in lines)
        return "\n".join([*said, "", f"{where}: {ends}", *facts])

    def verdicts(self) -> Iterator[str]:
        """Yield the two verdicts, or the missing inputs of each."""
        if self.verdict is None:
            yield "no threshold: it needs a host; add a column host_us, or --software"
            return
        yield f"faster: {self.verdict.text()}"
        if self.frees is None:
            yield "frees CPU: not known; add the load meanwhile, --cpu-load or offload_cpu"
            return
        size, curves = self.timings.size[-1], self.frees.model.curves.values()
        host, offload = (units.show(curve.time[-1] / size, PER_BYTE) for curve in curves)
        yield (
            f"frees CPU: {self.frees.text()}; at {size_text(size)} an offload keeps a core busy "
            f"for {offload}, the host alone for {host}"
        )

    def figures(self) -> Iterator[str]:
        """Yield each curve with its intervals."""
        found = {
            name: f"{units.show(one.value, name)} ({interval(one.low, one.high, name)})"
            for name, one in self.model.estimates().items()
        }
        linear = self.model.linear
        if self.model.host is not None:
            rest = "" if linear else f"; beta = {found['exponent']}, index per B^beta"
            yield f"host: {found['host_offset_s']} and {found['index_s_per_byte']}{rest}"
        rest = "" if linear else f"; A = {self.model.acceleration:.4g}"
        yield f"offload: {found['fixed_s']} and {found[PER_BYTE]}{rest}"

    def adequacy(self) -> str:
        """State in one sentence how well the model fits."""
        curves = self.model.curves
        off = listed([f"{percent(curve.worst)} ({name})" for name, curve in curves.items()])
        missed = percent(max(map(self.missed, curves)))
        text = f"off by up to {off}, and by {missed} at a size that the fit did not see"
        if len(curves) > 1:
            true = np.sign(curves["host"].time - curves["offload"].time)
            right = (np.sign(self.unseen["host"] - self.unseen["offload"]) == true).sum()
            text += f", of which it names the faster one at {right} of {len(true)}"
        return text

    def notes(self) -> Iterator[str]:
        """Yield further remarks."""
        if self.model.host is not None and self.model.general is None:
            yield "note: beta = 1 is assumed: three sizes cannot determine it"
        pays = self.verdict.pays if self.verdict else ()
        if pays and pays[0][0] == 0 and pays[-1][1] < math.inf:
            yield (
                "note: an accelerator that is faster for small sizes only is rare: look whether "
                "the columns host and offload are exchanged"
            )
        if self.timings.in_flight > 1:
            yield (
                f"note: times are those between results, with {self.timings.in_flight} offloads "
                "under way: how long one of them takes is more"
            )
        yield from (f"note: {note}" for note in self.timings.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of a fit for JSON, in SI.  Infinite and unknown numbers are None."""
        timings = self.timings
        found = {
            "faster": self.verdict and self.verdict.to_dict(),
            "frees_cpu": self.frees and self.frees.to_dict(),
            "sizes": len(timings.size),
            "smallest_byte": float(timings.size[0]),
            "largest_byte": float(timings.size[-1]),
            "in_flight": timings.in_flight,
            "method": _METHOD,
            "parameters": {name: one._asdict() for name, one in self.model.estimates().items()},
            "curves": {
                name: {"noise": curve.noise, "worst": curve.worst, "fits": curve.fits}
                | {"held_out": self.missed(name)}
                for name, curve in self.model.curves.items()
            },
            "adequacy": self.adequacy(),
            "notes": list(self.notes()),
            "facts": dict(timings.facts),
        }
        return dict(json.loads(json.dumps(found), parse_constant=lambda _: None))

    def sections(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the sections `interface` and, with a host, `kernel`, both called `name`.

        With exponent 1 the whole time per byte is the interface's latency, which then `includes`
        the device: a whole accelerator.
        """
        linear, load = self.model.linear, self.timings.offload_cpu
        share = 1.0 if load is None else float(np.mean(load))
        overhead = "overhead" if share >= POLLING else "overhead_plus_latency"
        figures = {overhead: "fixed_s", "latency": PER_BYTE}
        written = self._section(name, figures, [])
        note = "overhead is o + L, which times of whole offloads cannot separate"
        if share < POLLING:
            note = "overhead_share is the load of a core, of o + L"
        if not linear:
            note += f"; A = {self.model.acceleration:.4g}"
        else:
            written["includes"] = "device"
            note += "; latency is the whole time per byte, the device's computing included"
        if share < POLLING:
            written |= {"overhead_share": percent(share), "wait": "sync_os"}
        elif load is not None:
            written["wait"] = "sync"
        found = {"interface": written | {"note": note}}
        if self.model.host is not None:
            names = {"exponent": "exponent", "offset": "host_offset_s"}
            figures = {"index": "index_s_per_byte"} | names
            found["kernel"] = self._section(name, figures, ["exponent"] * (not self.model.general))
        return found

    def _section(self, name: str, figures: Mapping[str, str], assumed: list[str]) -> dict[str, Any]:
        """Return numbers, the fitted ones, and their certainty.  An exponent kept at 1 is fixed."""
        section: dict[str, Any] = {"name": name}
        shares, estimates, linear = {}, self.model.estimates(), self.model.linear
        for field, column in figures.items():
            value = estimates[column].value
            section[field] = units.written(float(f"{value:.6g}"), column)
            if value > 0 and field not in assumed and not (field == "exponent" and linear):
                shares[field] = percent(core_models.share_of_interval(*estimates[column]))
        section["source"] = f"fitted to {', '.join(file for file, _ in self.timings.files)}"
        if "machine" in self.timings.facts:
            section["host"] = self.timings.facts["machine"]
        fitted = [field for field in figures if field not in assumed]
        return section | {"assumptions": assumed, "fitted": fitted, "uncertainty": shares}

    def provenance(self) -> dict[str, Any]:
        """Return the origin of the record: file, hash, date, method, range, and the verdicts."""
        sizes, verdict = self.timings.size, self.verdict
        each = [records.provenance(data, name, _METHOD) for name, data in self.timings.files]
        joined = {key: ", ".join(one[key] for one in each) for key in ("file", "sha256")}
        found: dict[str, Any] = {
            **each[0],
            **joined,
            "range": f"{size_text(sizes[0])} to {size_text(sizes[-1])}, {len(sizes)} sizes",
            "residuals": self.adequacy(),
            "estimates": [*self.figures()],
            "verdicts": [*self.verdicts()],
        }
        if verdict and verdict.doubt:
            found |= {"refused": verdict.doubt, "measured": verdict.measured}
        return {**found, **self.timings.facts}


def report_on(timings: Timings) -> InterfaceFitReport:
    """Fit the measured times.  A host that is as fast for more data is a `DseError`."""
    host = timings.host
    if host is not None and host[-1] <= host[0]:
        least, most = (units.show(host[place], "host_s") for place in (0, -1))
        raise DseError(
            f"the host takes {least} for the smallest and {most} for the largest size; "
            "a kernel takes longer for more data; look at the columns and their units"
        )
    model = fit_model(timings.size, host, timings.offload)
    if model.host is not None and min(model.host.coefficients[-1], model.host.exponents[-1]) <= 0:
        rule = "the host's time does not grow with the size as a power does"
        raise DseError(f"{rule}; measure larger sizes")
    return InterfaceFitReport(timings=timings, model=model)
