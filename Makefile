# make help lists the targets; each sets up .venv by itself.
PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
SOURCES := $(shell find native -name '*.[ch]*') CMakeLists.txt pyproject.toml
PYTHONS ?= $(PYTHON)
WORKERS ?= 2
# This machine's instruction-set level is enough to try and to test; every level once make levels was asked for. Warnings
# are errors there, as in CI: elsewhere a compiler that warns of more than ours is no reason to fail.
ALL_LEVELS := SEPARATRIX_LEVELS=all SEPARATRIX_WERROR=ON
# Modules of the dependencies are compiled when they are first imported: most never are.
INSTALL := $(BIN)/pip install --quiet --no-build-isolation --no-compile --editable '.[audit]'
DEPENDENCIES := $(BIN)/python -c \
  'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  print(*project["dependencies"], *project["optional-dependencies"]["audit"], end="")'

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint type contracts format bench levels compilers sanitize stub docs wheel wheel-test clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.venv/tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --no-compile "scikit-build-core>=1.0" "nanobind>=3.0" cmake ninja
	touch $@

# Dependencies are installed while the kernels compile.
.venv/package: .venv/tools $(SOURCES)
	$(DEPENDENCIES) | xargs $(BIN)/pip install --quiet --no-compile & pid=$$!; \
	  $(if $(wildcard .venv/levels),$(ALL_LEVELS),SEPARATRIX_LEVELS=host) $(INSTALL) --no-deps && wait $$pid
	touch $@

.venv/levels: .venv/tools $(SOURCES)
	$(ALL_LEVELS) $(INSTALL)
	touch .venv/package $@

.venv/groups: .venv/package
	$(BIN)/pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/pip install --quiet --group test --group quality
	touch $@

.venv/bench: .venv/groups
	$(BIN)/pip install --quiet --group bench
	touch $@

demo: .venv/package  ## audit an embedded example, and say where the report is
	$(BIN)/separatrix audit example:visits --out demo
	@echo "the report: $(CURDIR)/demo/report.html"

test: lint type contracts  ## the quick whole: lint, types, import contracts, unit and property tests, README
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "not slow"

test-all: levels test compilers sanitize  ## everything: also each level, other compilers, sanitizers, slow simulations
	$(BIN)/python -m pytest -n $(WORKERS) -m slow
	SEPARATRIX_FUZZ=1000000 $(BIN)/python -m pytest tests/test_fuzz.py
	SEPARATRIX_CAMPAIGN=300000 $(BIN)/python -m pytest -n $(WORKERS) -rP tests/campaign
	SEPARATRIX_HYPOTHESIS=thorough $(BIN)/python -m pytest -n $(WORKERS) -m "not slow"
	.ci/levels tests

lint: .venv/groups  ## ruff: errors and formatting; phrases that must not come back
	$(BIN)/ruff check src tests benchmarks examples docs
	$(BIN)/ruff format --check src tests benchmarks examples docs
	$(BIN)/python .ci/phrases

type: .venv/groups  ## mypy --strict
	$(BIN)/mypy

contracts: .venv/groups  ## who may import whom
	$(BIN)/lint-imports --no-cache

format: .venv/groups  ## put the sources in order
	$(BIN)/ruff check --fix src tests benchmarks examples docs
	$(BIN)/ruff format src tests benchmarks examples docs

bench: .venv/bench  ## measure beside peers and limits, and print the tables
	$(BIN)/python -m benchmarks

levels: .venv/levels  ## build every instruction-set level, not this machine's only; warnings are errors

compilers: .venv/groups  ## compile the native code with clang and for aarch64, and compare the bits of the learners
	.ci/compilers

stub: .venv/package  ## write kernels/_native.pyi from the compiled kernels
	$(BIN)/python -m nanobind.stubgen --quiet --exclude-values -o src/separatrix/kernels/_native.pyi \
	  -m separatrix.kernels._native_$$($(BIN)/python -c 'from separatrix import kernels; print(kernels.isa)')

sanitize: .venv/groups  ## the kernel tests under the address and undefined-behaviour sanitizers
	.ci/sanitize

docs: .venv/groups  ## build the documentation into docs/_build, and check its links
	$(BIN)/pip install --quiet --group docs
	$(BIN)/python -m sphinx --fail-on-warning --quiet docs docs/_build
	$(BIN)/python .ci/links docs/_build

wheel:  ## build wheels into dist/, one for each of PYTHONS (one serves all from 3.12 on)
	.ci/wheels build $(PYTHONS)

wheel-test:  ## install the wheels of PYTHONS into clean environments, and test them there
	.ci/wheels test $(PYTHONS)

clean:  ## remove what was built
	rm -rf .venv build dist
