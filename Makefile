# `make demo`, `make test`, `make portable`, `make pythons`, `make docs`. All create .venv on first use and may be repeated.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
EXE := .exe
endif
# Not compiled: of 9,000 files half are never imported, and pip compiles them one after the other, for most of a minute.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable
export MPLBACKEND := Agg
export OMP_NUM_THREADS := 1  # the tests are the parallel part

.PHONY: demo test portable pythons docs lint types tests benchmark clean

demo: $(VENV)/.demo
	$(BIN)/equipoise demo

test: $(VENV)/.dev lint
	$(MAKE) --no-print-directory --jobs=2 types tests  # types take one core half a minute: beside the tests

tests: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist worksteal

# What computes, as other processors would: with the kernels of each, and without the widest instructions.
portable: $(VENV)/.dev
	$(BIN)/python tests/portability.py

# What depends on the version of Python, on all versions that are found.
pythons: $(VENV)/.dev
	$(BIN)/python tests/pythons.py

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/site
	@echo "The site: build/site/index.html"

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

benchmark: $(VENV)/.dev
	$(BIN)/python benchmarks/rounds.py

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache build dist

$(BIN)/python$(EXE):
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python$(EXE)
	$(INSTALL) ".[plot]"
	touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python$(EXE)
	$(INSTALL) ".[docs]"
	touch $(VENV)/.demo $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python$(EXE)
	$(INSTALL) ".[dev]"
	touch $(VENV)/.demo $(VENV)/.docs $@
