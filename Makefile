# `make run` and `make test` do everything on a fresh machine with Python 3.11 or later.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 3
ITEMS ?= 100
STUDY ?= --quick
ASK ?=
EXTRAS ?=

.PHONY: help run test test-slow test-adapters test-local check lint docs notebooks package extras gallery audits bench study docs-pages clean

help:
	@echo "make run      set up and run the main job; ends with the path of a report (ITEMS=500 for more items)"
	@echo "make test     set up everything and run the tests"
	@echo "make test-slow  kills, clusters and whole audits"
	@echo "make test-adapters  the same for verifiers, reasoning-gym and OpenEnv, in environments of their own"
	@echo "make test-local  the same for a real language model, served on this machine"
	@echo "make lint     ruff and mypy"
	@echo "make check    all tests and lint: what CI runs"
	@echo "make docs     build the documentation site into site/, offline"
	@echo "make notebooks  run the notebooks in docs/notebooks and keep what they show"
	@echo "make package  build the package into dist/ and check it"
	@echo "make extras   install every light extra alone in a fresh environment and use it; EXTRAS=all for all"
	@echo "make gallery  write GALLERY.md from the code"
	@echo "make audits   audit every preset for shortcuts; writes docs/audits.md (20 minutes)"
	@echo "make bench    measure speed against peers and limits"
	@echo "make study    run the paper's study of learners, small; STUDY= runs the full one"
	@echo "make docs-pages  write the example reports in docs/examples; ASK=--ask asks the small model again"
	@echo "make clean    remove the virtual environment and caches"

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit("Trivium needs Python 3.11 or later, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	touch $@

# The main job needs the core, and its report the charts.
$(VENV)/.run: $(VENV)/.made pyproject.toml constraints.txt
	$(BIN)/python -m pip install -q -c constraints.txt -e .
	touch $@

$(VENV)/.dev: $(VENV)/.run
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev]'
	touch $@

run: $(VENV)/.run
	$(BIN)/trivium run --items $(ITEMS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) -m 'not slow'

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) -m slow

# verifiers needs openai below 3 and mcp 2.0, OpenEnv mcp below 2 and pillow below 13, and
# reasoning-gym a compiler: neither fits beside the other nor beside what the other tests use.
.venv-verifiers/.made: pyproject.toml constraints-verifiers.txt
	$(PYTHON) -m venv .venv-verifiers
	.venv-verifiers/bin/python -m pip install -q -c constraints-verifiers.txt -e '.[verifiers,reasoning-gym]' pytest hypothesis
	.venv-verifiers/bin/python -m pip install -q --no-deps -c constraints-verifiers.txt inspect-evals  # its schema
	touch $@

.venv-openenv/.made: pyproject.toml constraints-openenv.txt
	$(PYTHON) -m venv .venv-openenv
	.venv-openenv/bin/python -m pip install -q -c constraints-openenv.txt -e '.[openenv]' pytest hypothesis
	touch $@

test-adapters: .venv-verifiers/.made .venv-openenv/.made
	TRIVIUM_REQUIRED="verifiers reasoning_gym inspect_evals register_tooling" .venv-verifiers/bin/python -m pytest -rs tests/adapters
	TRIVIUM_REQUIRED=openenv .venv-openenv/bin/python -m pytest -rs tests/adapters

$(VENV)/.local: $(VENV)/.dev
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[local]'
	touch $@

test-local: $(VENV)/.local
	TRIVIUM_TEST_LOCAL=1 $(BIN)/python -m pytest -n 0 tests/models/test_local.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: test test-slow test-adapters lint

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

notebooks: $(VENV)/.dev
	$(BIN)/python -m tests.test_notebooks

package: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*

extras: $(VENV)/.made
	$(BIN)/python .ci/extras.py $(EXTRAS)

gallery: $(VENV)/.run
	$(BIN)/python -c 'from trivium.report.gallery import gallery; print(gallery(), end="")' > GALLERY.md

audits: $(VENV)/.dev
	$(BIN)/python perf/audit_presets.py

bench: $(VENV)/.dev
	@for script in perf/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

study: $(VENV)/.dev
	$(BIN)/python -m studies.blicket_learners $(STUDY)

docs-pages: $(VENV)/.dev
	$(BIN)/python -m studies.example_reports docs/examples $(ASK)

clean:
	rm -rf $(VENV) .venv-verifiers .venv-openenv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist site
