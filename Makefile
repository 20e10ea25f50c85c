# All targets work in a local virtual environment, made here: only Python ≥ 3.11 and make are needed.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PARTS := chromium postgresql

.PHONY: run test lint parts bench study stress clean

run: .venv/ready
	$(BIN)/gobetween reproduce

test: lint parts
	$(BIN)/python -m pytest
	GOBETWEEN_JIT=off $(BIN)/python -m pytest tests/core tests/simulation/test_engine.py tests/study/test_learner.py

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Debian packages that tests use: installed when that is possible, otherwise their tests are skipped (with CI=true they fail)
parts:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && ! dpkg -s $(PARTS) > /dev/null 2>&1; then \
		{ apt-get install -y -qq $(PARTS) || { apt-get update -qq && apt-get install -y -qq $(PARTS); }; } > /dev/null 2>&1 || \
		echo "could not install $(PARTS)"; fi

bench: .venv/bench
	$(BIN)/python benchmarks/game.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/runner.py
	$(BIN)/python benchmarks/study.py
	$(BIN)/python benchmarks/logs.py

# statistical evidence at full size; writes docs/study.md and docs/study-logs.md
study: .venv/dev
	$(BIN)/python studies/validity.py
	$(BIN)/python studies/log_evidence.py

# the same properties on many more, random examples, and what takes too long or breaks too much for every day
stress: .venv/dev parts
	HYPOTHESIS_PROFILE=wild $(BIN)/python -m pytest tests/core/test_bound.py tests/core/test_geometry.py tests/files/test_problem_file.py
	$(BIN)/python -m pytest tests/stress

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("gobetween needs Python 3.11 or newer; say make PYTHON=python3.12, for example" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(INSTALL) --editable '.[plots,study]'
	touch $@

.venv/dev: .venv/ready
	$(INSTALL) --editable '.[dev]'
	touch $@

.venv/bench: .venv/ready
	$(INSTALL) --editable '.[dev,bench]'
	touch $@
