# Everything a person or CI does here is a target of this file; `make help` lists them.
# The environment lives in .venv, is made by the first target that needs it, and is made again only
# when pyproject.toml or the pinned versions change.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_READY := .venv-bench/.ready
PINS := .ci/constraints.txt
BENCH_PINS := .ci/constraints-bench.txt

# Every Python program of ours reads and writes UTF-8, whatever the machine's locale says.
export PYTHONUTF8 := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# What ordinary runs leave out: long forms, and tests that need a machine of their own.
EVERYWHERE := not (nightly or gpu or systemd)
QUICK := not (nightly or gpu or systemd or model or vllm or slow)

# Where `make install` puts things, and whose Python it builds on: one that the service can reach.
DESTDIR :=
PREFIX := /usr/local
SYSTEM_PYTHON := /usr/bin/python3

.PHONY: help setup engine-setup demo run check test lint type arch proto bench eval accept system-test nightly install deb package-test transcript uninstall fmt pins clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv with everything that is needed here (quick when it is there)
	@echo "$(VENV) is ready: make help lists what it can do"

# Whether it is there already, the command sees for itself.
engine-setup: $(READY) ## make .venv-engine with vLLM, for a GPU or for CPUs (quick when it is there)
	@$(BIN)/aeond engine-setup --path .venv-engine

demo: $(READY) $(if $(filter vllm,$(ENGINE)),engine-setup) ## start a daemon, ask it something real, watch it work, stop it again [ENGINE=vllm]
	@$(BIN)/aeond demo $(if $(ENGINE),--engine $(ENGINE))

run: $(READY) ## run the daemon in the foreground, with its state in your home
	@$(BIN)/aeond serve

check: lint type engine-setup ## everything that must hold before a change lands, a real model and a real systemd included
	@$(BIN)/python -m pytest -m "$(EVERYWHERE)"
	@PYTHON=$(SYSTEM_PYTHON) tests/system/run service -q
	@PYTHON=$(SYSTEM_PYTHON) tests/system/run package -q

test: $(READY) ## the tests that take seconds and need no model
	@$(BIN)/python -m pytest -m "$(QUICK)"

lint: $(READY) ## ruff: rules and format
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check --quiet || { echo "run 'make fmt'" >&2; exit 1; }

type: $(READY) ## mypy, strict
	@$(BIN)/mypy

arch: $(READY) ## the rules of the house: imports, sizes, words, generated code
	@$(BIN)/python -m pytest tests/architecture

proto: $(READY) ## generate aeond/api from protos/
	@$(BIN)/python protos/generate.py

bench: $(READY) $(BENCH_READY) ## measure us, others and the machine; write docs/performance.md
	@$(BIN)/python -m benchmarks

eval: $(READY) ## judge what a model makes of real requests: make eval [MODEL=name] [SETS="references"] [RUN_SECONDS=60]
	@$(BIN)/python -m tests.eval $(if $(MODEL),--model $(MODEL)) $(if $(RUN_SECONDS),--seconds $(RUN_SECONDS)) $(SETS)

accept: $(READY) ## the real program with a small real model
	@$(BIN)/python -m pytest tests/acceptance -m "$(EVERYWHERE)"

system-test: $(READY) ## the installed service under a real systemd, in namespaces of its own (root)
	@PYTHON=$(SYSTEM_PYTHON) tests/system/run service

nightly: $(READY) engine-setup ## the long forms: many more examples, seeds, kills and cuts
	@HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -m "not (gpu or systemd)"

install: $(READY) ## put aeond, its units and an example configuration below PREFIX; start nothing
	@systemd/install "$(DESTDIR)" "$(PREFIX)" "$(SYSTEM_PYTHON)"

deb: $(READY) ## build the Debian package into dist/; needs debhelper, fakeroot and dpkg-dev
	@package/deb "$(SYSTEM_PYTHON)"

package-test: $(READY) ## that package built, judged by lintian, installed, upgraded and purged under a real systemd (root)
	@PYTHON=$(SYSTEM_PYTHON) tests/system/run package

transcript: deb ## what a person sees who installs that package and uses it, under a real systemd with a real model (root)
	@tests/system/transcript

uninstall: ## take that away again; state and configuration stay
	@systemd/uninstall "$(DESTDIR)" "$(PREFIX)"

fmt: $(READY) ## let ruff format and mend what it can
	@$(BIN)/ruff check --fix --quiet || true
	@$(BIN)/ruff format

# Resolved without the pins: this is the one place where versions move.
pins: ## resolve the pinned versions anew, here and for the benchmarks
	@.ci/pins

clean: ## remove the environments and every cache
	@rm -rf .venv .venv-bench .venv-engine .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The build tools first, at their pinned versions, and then no build isolation: an isolated build would
# fetch whatever versions of them are newest today.
$(READY): pyproject.toml $(PINS) .ci/environment
	@.ci/environment $(VENV) $(PINS) hatchling editables setuptools
	@.ci/environment $(VENV) $(PINS) --no-build-isolation --use-pep517 --editable '.[daemon,cli,dev]'
	@touch $@

$(BENCH_READY): $(BENCH_PINS) .ci/environment
	@.ci/environment .venv-bench $(BENCH_PINS) --requirement $(BENCH_PINS)
	@touch $@
