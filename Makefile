# `make demo`, `make test`, `make docs`. All create .venv on first use and may be repeated.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
EXE := .exe
endif
export MPLBACKEND := Agg
export OMP_NUM_THREADS := 1  # the tests are the parallel part

.PHONY: demo test docs lint types benchmark clean

demo: $(VENV)/.demo
	$(BIN)/equipoise demo

test: $(VENV)/.dev lint types
	$(BIN)/python -m pytest -n auto --dist worksteal

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
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[plot]"
	touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python$(EXE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $(VENV)/.demo $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python$(EXE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $(VENV)/.demo $(VENV)/.docs $@
