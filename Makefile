# What one does in this folder. Needs make and Python 3.11, 3.12 or 3.13 with venv; everything else is
# installed into .venv, once, at the versions in constraints.txt.

.DEFAULT_GOAL := help
.PHONY: help setup demo dev test test-all lint types bench docs clean

VENV := .venv
PYTHON := $(VENV)/bin/python
# Twice quiet: no progress, no warnings about an index that lacks a package; errors still come through.
PIP := $(PYTHON) -m pip -qq --disable-pip-version-check --no-input
PROJECTS := pyproject.toml sdk/pyproject.toml devphone/pyproject.toml
RUN := $(VENV)/.installed-to-run
TEST := $(VENV)/.installed-to-test
# Tests mostly wait for processes, so that more of them than there are cores run at once, a whole file on each
# worker. In the order of the folders, not the largest file first: what takes long must not come last.
WORKERS := 4
PYTEST := $(PYTHON) -m pytest -n $(WORKERS) --no-loadscope-reorder

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(TEST) ## install everything, for running and for the tests

demo: $(RUN) ## an agent hits a wall, a phone rings, a person lets it go on (one minute)
	@$(PYTHON) -m demo

dev: $(RUN) ## run Handoff with a phone on the screen, for work (options: make dev ARGS="--port 9000")
	@$(PYTHON) -m handoff dev $(ARGS)

test: lint types ## lint, types and every test but the slow ones
	@$(PYTEST) -m "not slow"

test-all: lint types ## lint, types and every test
	@$(PYTEST)

lint: $(TEST) ## style
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .

types: $(TEST) ## static types
	@$(PYTHON) -m mypy

bench: $(RUN) ## measure: wake-up, ring, burst, store and dev phone (minutes)
	@for bench in wake ring burst store devphone; do $(PYTHON) -m bench.$$bench || exit 1; done

docs: $(RUN) ## renew what is generated in docs/
	@$(PYTHON) -m handoff states > docs/states.md

clean: ## remove .venv, caches and .handoff (the development data)
	@rm -rf $(VENV) .handoff .pytest_cache .mypy_cache .ruff_cache build dist *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Builds with the pinned build tool instead of a fresh one per distribution: faster, and the same everywhere.
$(RUN): $(PROJECTS) constraints.txt
	@$(MAKE) --no-print-directory .venv-is-there
	@echo "Installing what Handoff needs into $(VENV) (only this once, about half a minute) ..."
	@$(PIP) install -c constraints.txt hatchling editables
	@$(PIP) install -c constraints.txt --no-build-isolation -e '.[dev]' -e ./sdk -e ./devphone
	@touch $@

$(TEST): $(PROJECTS) constraints.txt
	@$(MAKE) --no-print-directory .venv-is-there
	@echo "Installing what Handoff and its tests need into $(VENV) (only this once, about a minute) ..."
	@$(PIP) install -c constraints.txt hatchling editables
	@$(PIP) install -c constraints.txt --no-build-isolation -e '.[dev,test]' -e ./sdk -e './devphone[test]'
	@touch $(RUN) $@

# A name on the PATH may be a shim that runs nothing, so each candidate is tried, with what a venv needs.
.PHONY: .venv-is-there
.venv-is-there:
	@$(PYTHON) -m pip --version >/dev/null 2>&1 && exit 0; \
	for python in python3.11 python3.12 python3.13 python3; do \
	  $$python -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	    >/dev/null 2>&1 && exec $$python -m venv --clear $(VENV); \
	done; \
	echo "Handoff needs Python 3.11, 3.12 or 3.13 with venv (on Debian and Ubuntu: apt install python3-venv)." >&2; \
	exit 1
