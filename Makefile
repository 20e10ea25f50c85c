# All targets work in a local virtual environment, made here: only Python ≥ 3.11 and make are needed.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PACKAGE := $(INSTALL) --build-constraint constraints.txt --editable
PARTS := chromium postgresql
# two processes; a file stays in one of them, with its kernels and fixtures, and slow files come first (tests/conftest.py)
BESIDE := --numprocesses 2 --dist loadfile --no-loadscope-reorder
# hundreds of commands that tests start would compile all that they import
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run quick test durations lint fix parts api bench rules validity stress mutants hooks clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | awk -F '\t' '{ printf "make %-9s %s\n", $$1, $$2 }'

run: .venv/ready ## reproduce the paper's two tables and write a report to look at
	$(BIN)/gobetween reproduce

quick: lint ## lint, types and the tests that need no database server, browser or cluster: under a minute
	$(BIN)/python -m pytest -m quick

test: lint parts ## everything that must pass before a change lands: lint, types, all tests, kernels also without the JIT
	$(BIN)/python tests/warm.py
	$(BIN)/python -m pytest -m 'not alone' $(BESIDE) --record compiled
	$(BIN)/python -m pytest -m alone --record alone
	GOBETWEEN_JIT=off $(BIN)/python -m pytest -m 'core or plain' $(BESIDE) --record plain
	$(BIN)/python tests/records.py

durations: .venv/dev ## after make test: write what it took to tests/durations.json, from which slow tests are known
	$(BIN)/python tests/records.py --write

lint: .venv/dev ## ruff and mypy, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fix: .venv/dev ## let ruff mend and format what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Debian packages that tests use: installed when that is possible, otherwise their tests are skipped (with CI=true they fail)
parts:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && ! dpkg -s $(PARTS) > /dev/null 2>&1; then \
		{ apt-get install -y -qq $(PARTS) || { apt-get update -qq && apt-get install -y -qq $(PARTS); }; } > /dev/null 2>&1 || \
		echo "could not install $(PARTS)"; fi

api: .venv/dev ## write docs/api.md from the docstrings
	$(BIN)/python docs/make_api.py

bench: .venv/bench ## measure: the solver against others, the step, the runner, commands, studies, logs
	$(BIN)/python benchmarks/game.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/doors.py
	$(BIN)/python benchmarks/runner.py
	$(BIN)/python benchmarks/commands.py
	$(BIN)/python benchmarks/study.py
	$(BIN)/python benchmarks/logs.py

rules: .venv/dev ## compare sampling and stopping rules on many instances: docs/rules.md, about 20 minutes
	$(BIN)/python benchmarks/rule_pairs.py

validity: .venv/dev ## statistical evidence at full size: docs/validity.md, docs/validity-ties.md, docs/validity-logs.md, docs/validity-forecast.md, docs/validity-log-forecast.md, docs/validity-questions.md, docs/validity-contradictions.md, docs/validity-drift.md, docs/validity-unknown.md, docs/validity-guesses.md
	$(BIN)/python validity/rules.py
	$(BIN)/python validity/scales.py
	$(BIN)/python validity/ties.py
	$(BIN)/python validity/log_evidence.py
	$(BIN)/python validity/forecast.py
	$(BIN)/python validity/log_forecast.py
	$(BIN)/python validity/questions.py
	$(BIN)/python validity/contradictions.py
	$(BIN)/python validity/drift.py
	$(BIN)/python validity/unknown.py
	$(BIN)/python validity/guesses.py
	$(BIN)/python validity/spread.py

stress: .venv/dev parts ## many more random examples, and what takes too long or breaks too much for every day: docs/stress.md
	HYPOTHESIS_PROFILE=wild $(BIN)/python -m pytest tests/core/test_lower_bound.py tests/core/test_geometry.py tests/files/test_problem_file.py \
		tests/core/test_rank_evidence.py tests/core/test_eprocess.py tests/core/test_questions.py tests/core/test_own_rules.py tests/core/test_overdispersion.py \
		tests/core/test_game.py tests/core/test_lift_table.py tests/core/test_empirical_bernstein.py tests/simulation/test_experiment.py \
		tests/core/test_guess.py tests/core/test_unknown_sigma.py tests/logs/test_log_questions.py tests/study/test_resolution.py tests/test_one_voice.py
	GOBETWEEN_EXAMPLES=300 $(BIN)/python -m pytest tests/service/test_schema.py
	$(BIN)/python -m pytest tests/stress

mutants: .venv/dev ## have the tests teeth? puts the small faults of tests/mutants.toml into a copy, where tests must notice
	$(BIN)/python tests/mutants.py $(ONLY)

hooks: ## let git run make lint before every commit
	@hook="$$(git rev-parse --git-path hooks)/pre-commit"; \
	if [ -e "$$hook" ]; then echo "$$hook is there already: remove it first" >&2; exit 1; fi; \
	mkdir -p "$$(dirname "$$hook")" && printf '#!/bin/sh\nexec make lint\n' > "$$hook" && chmod +x "$$hook"

clean: ## remove the virtual environment and caches
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .records

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("gobetween needs Python 3.11 or newer; say make PYTHON=python3.12, for example" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(INSTALL) --upgrade pip setuptools
	$(PACKAGE) '.[logs,plots,study]'
	touch $@

.venv/dev: .venv/ready
	$(PACKAGE) '.[dev]'
	touch $@

.venv/bench: .venv/ready
	$(PACKAGE) '.[dev,bench]'
	touch $@
