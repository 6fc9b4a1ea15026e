PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles what it imports: of all that is installed that is a small part.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# Tests start dozens of processes: each would compile anew what it imports.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo check test test-slow test-browser bench docs release-check lint clean

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.run: pyproject.toml | $(VENV)/.made
	$(PIP) -e ".[plot]"
	touch $@

# With all that .run has: one installation instead of two.
$(VENV)/.test: pyproject.toml | $(VENV)/.made
	$(PIP) -e ".[plot,test]"
	touch $(VENV)/.run $@

$(VENV)/.quapy: $(VENV)/.run pyproject.toml
	$(PIP) -e ".[quapy]"
	touch $@

$(VENV)/.docs: $(VENV)/.run pyproject.toml
	$(PIP) -e ".[docs]"
	touch $@

$(VENV)/.browser: $(VENV)/.run pyproject.toml
	$(PIP) -e ".[browser]"
	touch $@

$(VENV)/.bench: $(VENV)/.run pyproject.toml
	$(PIP) -e ".[bench]"
	touch $@

demo: $(VENV)/.run
	$(BIN)/oneslack demo

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The tests that a change can touch, the closest first, for as long as one waits; `make test` has them all.
check: lint
	files=$$($(BIN)/python tests/touched.py) && { test -z "$$files" \
	|| $(BIN)/python -m pytest -n 2 -m "not slow" --seconds 60 $$files; }

# Long runs of neighbouring tests stay in one process: what they share is made and compiled once.
test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-slow: lint $(VENV)/.quapy
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The folder with the real data sets comes from ONESLACK_DATA (see benchmarks/README.md).
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/unseen.py
	$(BIN)/python benchmarks/overview.py

# The site goes to site/; a warning is an error. Then every line of code of the pages is run.
docs: $(VENV)/.test $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --site-dir site
	$(BIN)/python -m pytest -n 2 tests/docs/test_docs.py

# Reports in a real browser; skipped with a reason where there is none and none can be installed.
test-browser: $(VENV)/.test $(VENV)/.browser
	sh tests/browser/install_chromium.sh
	$(BIN)/python -m pytest tests/browser

# What would be uploaded, into dist/: built, looked at, installed without the checkout, and tested with the newest
# dependencies and the oldest, for an hour or so.  TESTS="tests/solvers" takes a part of the tests.
TESTS ?= tests
release-check:
	$(PYTHON) tests/release/check.py --tests "$(TESTS)"

clean:
	rm -rf $(VENV) demo-output site dist
