"""Which packages there are, also where a checkout has text files in place of links (Windows)."""

from pathlib import Path

from setuptools import find_namespace_packages, setup

ROOT = Path(__file__).parent
LINKED = [name for name in ("cores", "objectives", "studies") if not (ROOT / "dse" / name).is_dir()]

packages = find_namespace_packages(str(ROOT), include=["dse", "dse.*"])
for name in LINKED:
    inner = find_namespace_packages(str(ROOT / name), exclude=["*__pycache__*"])
    packages += [f"dse.{name}", *(f"dse.{name}.{one}" for one in inner)]

setup(
    packages=[one for one in packages if "__pycache__" not in one],
    # of one root an editable install is a plain path, which editors and mypy follow
    package_dir={"": "."} | {f"dse.{name}": name for name in LINKED},
)
