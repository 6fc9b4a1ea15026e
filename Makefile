PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow bench docs lint clean

$(VENV)/.run: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[plot]"
	touch $@

$(VENV)/.test: $(VENV)/.run pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $@

$(VENV)/.quapy: $(VENV)/.run pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[quapy]"
	touch $@

$(VENV)/.bench: $(VENV)/.run pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	touch $@

demo: $(VENV)/.run
	$(BIN)/oneslack demo

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

test: lint
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: lint $(VENV)/.quapy
	$(BIN)/python -m pytest -n 2

# The folder with the real data sets comes from ONESLACK_DATA (see benchmarks/README.md).
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/classify.py

docs: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 tests/test_docs.py

clean:
	rm -rf $(VENV) demo-output
