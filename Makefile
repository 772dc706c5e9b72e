# No logic here: each target sets up what it needs and calls the program.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STUDY ?= studies/des_100gbps.yaml
SAMPLE ?= 25
GROUP ?=

.PHONY: run test faults check mutants bench figures clean

run: $(VENV)/run
	$(BIN)/dse run $(STUDY) --out runs/$(basename $(notdir $(STUDY)))

test: $(VENV)/dev
	$(BIN)/python -m pytest

faults: $(VENV)/dev
	DSE_FAULTS=all $(BIN)/python -m pytest -s -v tests/faults

check: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

mutants: $(VENV)/dev
	$(BIN)/python -m tests.mutants --sample $(SAMPLE) $(GROUP)

bench: $(VENV)/dev
	$(BIN)/python -m benchmarks > docs/benchmarks.md.new
	mv docs/benchmarks.md.new docs/benchmarks.md
	cat docs/benchmarks.md

figures: $(VENV)/run
	$(BIN)/dse run studies/crypto_interface_100gbps.yaml --out runs/figures
	cp runs/figures/front.png docs/front.png
	$(BIN)/dse figure all --out docs/figures --gallery docs/figures.md

$(VENV)/run: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/dev: pyproject.toml $(VENV)/run
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info runs
