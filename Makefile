# No logic here: each target sets up what it needs and calls the program.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STUDY ?= studies/tls_100gbps.yaml
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt --editable

.PHONY: run test slow faults check docs lock bench gallery clean

run: $(VENV)/run
	$(BIN)/dse run $(STUDY) --out runs/$(basename $(notdir $(STUDY)))

test: $(VENV)/test
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

slow: $(VENV)/dev
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m slow

faults: $(VENV)/dev
	DSE_FAULTS=all $(BIN)/python -m pytest --numprocesses auto --dist worksteal -v -rP --durations 20 \
		-m "slow or not slow" tests/faults

check: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# not quietly, for then mkdocs counts no warnings
docs: $(VENV)/dev
	$(BIN)/mkdocs build --strict

lock: $(VENV)/dev
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-annotate \
		--custom-compile-command 'make lock' --extra dev --extra peers pyproject.toml \
		--output-file constraints.txt

bench: $(VENV)/dev
	$(BIN)/python -m benchmarks > benchmarks/results.md.new
	mv benchmarks/results.md.new benchmarks/results.md
	cat benchmarks/results.md

gallery: $(VENV)/run
	$(BIN)/python docs/site/gallery.py

$(VENV)/run: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[parquet,search]'
	touch $@

$(VENV)/test: pyproject.toml constraints.txt $(VENV)/run
	$(INSTALL) '.[test,all]'
	touch $@

# all that a developer uses, so that no test is skipped for want of a package
$(VENV)/dev: pyproject.toml constraints.txt $(VENV)/test
	$(INSTALL) '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist site *.egg-info runs
