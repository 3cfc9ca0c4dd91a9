# All development tasks are targets of this file; `make help` lists them. The first target that needs the
# environment creates it in .venv; it is created again only when pyproject.toml or the pinned versions change.

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

# All our Python programs use UTF-8, whatever the locale.
export PYTHONUTF8 := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Some containers set this. Each daemon, command and process of tests would compile all of its modules again.
unexport PYTHONDONTWRITEBYTECODE

# Ordinary runs exclude the long variants, and tests that need special machines.
EVERYWHERE := not (nightly or gpu or systemd)
QUICK := not (nightly or gpu or systemd or model or vllm or slow)

# A test that hangs is ended after fifteen minutes with the stacks of its threads, so that a check always comes to its end.
HANG := -o faulthandler_timeout=900

# The folders of `make test`: their tests run in the process of the test, most of them in milliseconds.
FAST := tests/unit tests/spec tests/replay tests/eval

# Tests without an engine run in several processes, because many tests wait. A file is run by one of them, and folders
# start in the order of the alphabet: the long tests first. Tests of an engine share it, so these run in one process for
# each engine.
WORKERS := 3
PARALLEL = --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

# The files with tests of an engine; tests/support/engine_marks.py fails a collection that has one elsewhere. The collection of all files takes 6 s of a core or more, each time.
ENGINE_TESTS = $(shell grep --recursive --extended-regexp --files-with-matches --include='test_*.py' 'mark\.(model|vllm)\b' tests | sort)

# Each process of the desktop tests starts an X server, a bus and window managers of its own. The tests wait for a part of their
# time, so there may be more processes than cores. docs/testing.md has the time that they need on two.
DESKTOP_WORKERS := 3

# Each process of the tests of the web page starts a browser, a daemon and page servers of its own, and waits for a part of its time.
PAGE_WORKERS := 3

# Destination of `make install`, and the Python to build on, which the service must be able to access.
DESTDIR :=
PREFIX := /usr/local
SYSTEM_PYTHON := /usr/bin/python3
# `make install POPUP=1` installs the desktop window too.
POPUP :=

.PHONY: help setup engine-setup aider-setup demo run check check-plain check-desktop repeat check-page check-llama check-vllm check-service check-packages check-engines check-programs small-model test lint type arch proto clients mcp-servers openai-clients bench eval accept system-test nightly install deb package-test transcript uninstall fmt pictures recording pins clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv with everything for development (fast if it exists)
	@echo "$(VENV) is ready: make help lists what it can do"

# The command itself checks whether the environment exists.
engine-setup: $(READY) ## create .venv-engine with vLLM, or .venv-llama with llama.cpp for this processor [NATIVE=1] (fast if it exists)
	@$(BIN)/aeond engine-setup $(if $(NATIVE),--native --path .venv-llama,--path .venv-engine)

aider-setup: $(READY) ## create .venv-aider with Aider (fast if it exists)
	@$(BIN)/aeond aider-setup --path .venv-aider

demo: $(READY) $(if $(filter vllm,$(ENGINE)),engine-setup) ## start a private daemon with the real model, send it requests, stop it [ENGINE=vllm]
	@$(BIN)/aeond demo $(if $(ENGINE),--engine $(ENGINE))

run: $(READY) ## run the daemon in the foreground, with its state in your home folder
	@$(BIN)/aeond serve

# The reports feed the tables of docs/testing.md. Two groups run side by side, because tests wait for much of their time: for
# daemons and deadlines, engines that start, a desktop, a browser, a systemd.
check: $(READY) ## all checks for a change, including a real model and a real systemd
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory --jobs 5 --output-sync=target type check-programs check-engines

# The parts of a group run one after the other also under --jobs, and all of them: one that fails does not hide what the next would say.
define one_after_the_other
+@failed=""; for part in $(1); do $(MAKE) --no-print-directory check-$$part || failed="$$failed check-$$part"; done; \
test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }
endef

check-engines: $(READY) engine-setup small-model ## the tests with engines and of the installed service, as part of `make check`
	$(call one_after_the_other,vllm llama service)

check-programs: $(READY) ## the tests without an engine, of the window, the web page and the packages, as part of `make check`
	$(call one_after_the_other,plain desktop page packages)

check-plain: $(READY) aider-setup mcp-servers openai-clients ## the tests that need no engine, as part of `make check`
	@$(BIN)/python -m pytest $(HANG) -m "$(EVERYWHERE) and not (model or vllm or desktop or browser)" $(PARALLEL) --junitxml .cache/check-plain.xml

check-desktop: $(READY) ## the tests of the desktop window in private sessions, as part of `make check`
	@$(BIN)/python -m pytest $(HANG) tests/desktop -m "$(EVERYWHERE)" --numprocesses $(DESKTOP_WORKERS) --dist loadfile --junitxml .cache/check-desktop.xml

repeat: $(READY) ## run the tests of a folder several times and print a table of green runs [TESTS=tests/desktop] [TIMES=20]
	@$(BIN)/python -m tests.support.repeated $(or $(TESTS),tests/desktop) $(or $(TIMES),20) $(DESKTOP_WORKERS)

check-page: $(READY) ## the tests of the web page in a headless browser, as part of `make check`
	@$(BIN)/python -m pytest $(HANG) tests/page -m "$(EVERYWHERE)" --numprocesses $(PAGE_WORKERS) --dist loadfile --junitxml .cache/check-page.xml

check-llama: $(READY) ## the tests with llama.cpp and a small model, as part of `make check`
	@$(BIN)/python -m pytest $(HANG) $(ENGINE_TESTS) -m "$(EVERYWHERE) and model and not vllm" --junitxml .cache/check-llama.xml

check-vllm: $(READY) ## the tests with vLLM and a small model, as part of `make check`
	@$(BIN)/python -m pytest $(HANG) $(ENGINE_TESTS) -m "$(EVERYWHERE) and vllm" --junitxml .cache/check-vllm.xml

check-service: $(READY) ## the tests of the installed service under a real systemd, as part of `make check`
	@PYTHON=$(SYSTEM_PYTHON) tests/system/run service -q

check-packages: $(READY) ## the tests of the Debian packages under a real systemd, as part of `make check`
	@PYTHON=$(SYSTEM_PYTHON) tests/system/run package -q

test: $(READY) ## run the fast tests, without a model
	@$(BIN)/python -m pytest $(FAST) -m "$(QUICK)" $(PARALLEL)

lint: $(READY) ## check rules and format with ruff
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check --quiet || { echo "run 'make fmt'" >&2; exit 1; }

type: $(READY) ## check types with mypy, strict
	@$(BIN)/mypy

arch: $(READY) ## run the architecture tests: imports, sizes, vocabulary, generated code
	@$(BIN)/python -m pytest tests/architecture

proto: $(READY) ## generate aeond/api, and the records and the sync client of aeond_client
	@$(BIN)/python protos/generate.py

small-model: $(READY) ## download the model that tests use (fast if it is there)
	@$(BIN)/python -m tests.support.engine

mcp-servers: ## install the reference MCP servers that tests talk to, and the inspector (fast if they are there)
	@tests/mcp_servers/build
	@tests/mcp_inspector/build

openai-clients: ## install the official clients of the OpenAI API that tests run (fast if they are there)
	@tests/openai_clients/build

clients: ## build the clients for Node, Go and C++; .ci/run lists the packages that this needs
	@for build in clients/*/build; do $$build; done

bench: $(READY) $(BENCH_READY) ## run the benchmarks and write docs/performance.md
	@$(BIN)/python -m benchmarks

eval: $(READY) ## judge a model by real requests: make eval [SETS="open bfcl everyday"] [MODEL=name] [HUB=url] [ENGINE=vllm] [REMOTE=url] [EVAL="--limit 9"]
	@$(BIN)/python -m tests.eval $(if $(MODEL),--model $(MODEL)) $(if $(HUB),--hub $(HUB)) $(if $(ENGINE),--engine $(ENGINE)) \
	  $(if $(REMOTE),--remote $(REMOTE)) $(if $(RUN_SECONDS),--seconds $(RUN_SECONDS)) $(EVAL) $(SETS)

accept: $(READY) ## run the acceptance tests: the real program with a small real model
	@$(BIN)/python -m pytest tests/acceptance -m "$(EVERYWHERE)"

system-test: $(READY) ## test the installed service under a real systemd, in separate namespaces (root)
	@PYTHON=$(SYSTEM_PYTHON) tests/system/run service

nightly: $(READY) engine-setup aider-setup ## run the long variants of tests: more examples, seeds, kills and power cuts
	@# Playwright keeps an event loop running in its process, where no test with a loop of its own can run.
	@HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -m "not (gpu or systemd or browser)"
	@$(BIN)/python -m pytest tests/page

install: $(READY) ## install aeond, its units and an example configuration below PREFIX; starts nothing
	@list=$$(mktemp -d); trap 'rm -rf "$$list"' EXIT; \
	  systemd/install "$(DESTDIR)" "$(PREFIX)" "$(SYSTEM_PYTHON)" $(if $(POPUP),"$$list")

deb: $(READY) ## build the Debian packages in dist/; needs debhelper, fakeroot, dpkg-dev and protobuf-compiler-grpc
	@package/deb "$(SYSTEM_PYTHON)"

package-test: $(READY) ## build those packages, check them with lintian, install, upgrade and purge it under a real systemd (root)
	@PYTHON=$(SYSTEM_PYTHON) tests/system/run package

transcript: deb ## print a session that installs and uses the package of the daemon, under a real systemd with a real model (root)
	@tests/system/transcript

uninstall: ## remove the installed files; keep state and configuration
	@systemd/uninstall "$(DESTDIR)" "$(PREFIX)"

fmt: $(READY) ## format the code and apply automatic fixes of ruff
	@$(BIN)/ruff check --fix --quiet || true
	@$(BIN)/ruff format

pictures: $(READY) ## draw the states of the desktop window and of the web page into docs/pictures
	@QT_QPA_PLATFORM=offscreen QT_LOGGING_RULES='*=false' $(BIN)/python -m tests.support.popup_pictures
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m tests.support.page_pictures

recording: $(READY) ## record hotkey, question and answer of the desktop window in a real X session into docs/pictures
	@$(BIN)/python -m tests.support.popup_recording

# Resolves without the pins: the only place where versions change.
pins: ## resolve the pinned versions again, for development and benchmarks
	@.ci/pins

clean: ## remove the environments and every cache
	@rm -rf tests/mcp_servers/node_modules tests/mcp_inspector/node_modules tests/openai_clients/node_modules clients/node/node_modules clients/node/dist clients/node/src/contract clients/go/aeondpb
	@rm -rf .venv .venv-bench .venv-engine .venv-llama .venv-aider .venv-mcp .venv-openai .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Installs the pinned build tools first and builds without isolation: an isolated build would download the newest
# versions of them.
$(READY): pyproject.toml $(PINS) .ci/environment
	@.ci/environment $(VENV) $(PINS) hatchling editables setuptools
	@.ci/environment $(VENV) $(PINS) --no-build-isolation --use-pep517 --editable '.[daemon,mcp,cli,acp,facades,otlp,popup,dev]'
	@touch $@

$(BENCH_READY): $(BENCH_PINS) .ci/environment
	@.ci/environment .venv-bench $(BENCH_PINS) --requirement $(BENCH_PINS)
	@touch $@
