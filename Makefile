# Every set-up step is here: Python 3.11 or later with pip is all a machine needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A CPU build is enough for the tests and the offline model; the package itself allows a range of versions.
TORCH ?= torch==2.13.0
# Test files run side by side.
JOBS ?= 2

.PHONY: quickstart test test-offline lint types bench clean

quickstart: $(VENV)/user.stamp
	$(BIN)/glosseme quickstart

test: $(VENV)/dev.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile

test-offline: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -m offline

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/dev.stamp
	$(BIN)/mypy

bench: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/user.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --editable '.[offline]'
	touch $@

$(VENV)/dev.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --editable '.[offline,test,dev]'
	touch $@ $(VENV)/user.stamp

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
