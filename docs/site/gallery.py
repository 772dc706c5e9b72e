"""Draw the gallery: a picture of each study and of each command that draws (`make gallery`).

It runs what it shows, writes docs/gallery.md, docs/gallery/*.png.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
PAPERS = "crypto_interface_100gbps"
SHOWN = (
    (
        "Recommended design over the rate",
        "dse map studies/des_100gbps.yaml rate=1..240Gbps --out runs/crossovers",
        "crossovers",
        "The recommended design and its objectives over the demanded rate, with exact borders.",
    ),
    (
        "Changes that flip the answer",
        "dse flips studies/settop_116mbps.yaml --out runs/flips",
        "flips",
        "The range of each assumption, others unchanged, in which the recommendation stays.",
    ),
    (
        "Recommended device over two numbers",
        f"dse map studies/{PAPERS}.yaml rate=1..400Gbps granularity=64B..64KiB --by device "
        "--out runs/map",
        "map",
        "The recommended device over rate and granularity. Borders along the rate are exact.",
    ),
    (
        "TLS: inline, on the die, or on the host",
        "dse map studies/tls_100gbps.yaml rate=1..400Gbps retransmit_share=0.1..50% --by device "
        "--out runs/tls_100gbps_map",
        "map",
        "An inline engine carries less as more segments are sent again.",
    ),
    (
        "Storage: on an engine, or on the host",
        "dse map studies/storage_xts_100gbps.yaml granularity=512B..64KiB "
        "qat_pair_user.overhead=10ns..10us --by device --out runs/storage_xts_100gbps_map",
        "map",
        "An engine pays off for large sectors and cheap offloads.",
    ),
    (
        "Hashes: on an engine, or on the host",
        "dse map studies/hash_100gbps.yaml rate=1..400Gbps granularity=64B..64KiB --by device "
        "--out runs/hash_100gbps_map",
        "map",
        "An engine holds 32 messages, too few for small ones.",
    ),
    (
        "Lightweight ciphers: the smallest for a rate and a latency",
        "dse map studies/lightweight_aead.yaml rate=0.1..20Gbps "
        '"chain_latency <= 1 us=0.1..50us" --set "constraints=[chain_latency <= 1 us]" '
        "--out runs/lightweight_aead_map",
        "map",
        "Lower demands need smaller ciphers. Borders along the rate are exact.",
    ),
    (
        "Influence of assumptions",
        f"dse uncertainty studies/{PAPERS}.yaml --sobol --out runs/uncertainty",
        "uncertainty",
        "The recommended design's objectives while all assumptions vary.",
    ),
    (
        "Simulation against the model",
        'dse simulate studies/nic_crypto_100gbps.yaml --set "workload.granularity=1500 B" '
        "--out runs/simulation",
        "simulation",
        "The distribution of offload latency, simulated and modelled.",
    ),
    (
        "A figure of a paper",
        "dse papers cores-9 --out runs/cores-9",
        "cores-9",
        "Drawn again from the models. `dse papers --out DIR` draws all of them.",
    ),
)
"""Title, command, picture in the folder that it names, and caption."""


def main() -> None:
    """Run every command and write the page."""
    folder = DOCS / "gallery"
    folder.mkdir(exist_ok=True)
    parts = [
        "# Gallery\n",
        "`dse run studies/NAME.yaml --out runs/NAME` draws the picture of a study. ",
    ]
    parts[-1] += "`make gallery` draws all again.\n"
    with tempfile.TemporaryDirectory() as place:
        for study in sorted((ROOT / "studies").glob("*.yaml")):
            question = study.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            command = f"dse run studies/{study.name} --out runs/{study.stem}"
            parts += _section(study.stem, study.stem, question)
            _draw(command, "front", folder, Path(place))
        _draw("dse run first.yaml --out runs/first", "front", folder, Path(place))
        _screenshot(folder, Path(place))
        for title, command, picture, words in SHOWN:
            parts += [*_section(title, _out(command).stem, words), f"`{command}`\n"]
            _draw(command, picture, folder, Path(place))
    (DOCS / "gallery.md").write_text("\n".join(parts), encoding="utf-8")


def _screenshot(folder: Path, place: Path) -> None:
    """Show the page of a run, if there is a browser."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("no chromium: page.png stays as it is", file=sys.stderr)
        return
    command = "run studies/tls_100gbps.yaml --out runs/page --report"
    subprocess.run([Path(sys.executable).parent / "dse", *command.split()], cwd=place, check=True)
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=8000"]
    shot = ["--window-size=1280,1200", f"--screenshot={place / 'page.png'}"]
    page = str(place / "runs" / "page" / "report.html")
    subprocess.run([browser, *options, *shot, page], check=True, capture_output=True)
    _keep(place / "page.png", folder / "page.png")


def _section(title: str, picture: str, words: str) -> list[str]:
    return [f"## {title}\n", f"{words}\n", f"![{title}](gallery/{picture}.png)\n"]


def _out(command: str) -> Path:
    """Return where a command writes, whose name is that of its picture."""
    words = shlex.split(command)
    return Path(words[words.index("--out") + 1])


def _draw(command: str, picture: str, kept: Path, place: Path) -> None:
    """Run a command in a folder with the studies, and keep its picture in 256 colours."""
    if not (place / "studies").exists():
        (place / "studies").symlink_to(ROOT / "studies")
        page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
        first, *_ = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        (place / "first.yaml").write_text(first, encoding="utf-8")
    words = [*shlex.split(command)[1:]]
    out = place / _out(command)
    out.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([Path(sys.executable).parent / "dse", *words], cwd=place, check=False)
    if done.returncode:
        sys.exit(f"{command}: status {done.returncode}")
    folder = out.parent if out.suffix else out
    _keep(folder / f"{picture}.png", kept / f"{out.stem}.png")


def _keep(drawn: Path, kept: Path) -> None:
    """Save a picture in 256 colours."""
    with Image.open(drawn) as image:
        flat = image.convert("RGB").quantize(
            256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    flat.save(kept, optimize=True)


if __name__ == "__main__":
    main()
