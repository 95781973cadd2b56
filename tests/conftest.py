"""Tests are seeded: the same examples on every machine. Several processes run them."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import builds
from hocket.launch.mpi import GIVE_WAY

try:
    import hocket._testing  # noqa: F401 -- what only tests ask of hocket._core
except ImportError:
    pytest.exit("hocket._testing is not built: run 'make setup'", returncode=4)

settings.register_profile(
    "seeded",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("seeded")

# Tests do not leave the choice of candidate to measurement, except tests of the choice itself.
os.environ.setdefault("HOCKET_CHOOSE", "off")

# Nor do they know what jobs before them have learned, or leave that behind: kept timings are the user's.
os.environ.setdefault("HOCKET_CHOICES", "")

# Programs that tests start would compile their Python modules every time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Open MPI looks for fabrics and finds none here: btl/ofi has every rank sleep a second when it closes, and mtl/ofi
# reads all names of the kernel, which is two thirds of what the start of a rank costs.
os.environ.setdefault("OMPI_MCA_btl", "^ofi")
os.environ.setdefault("OMPI_MCA_mtl", "^ofi")

# A third of what the start of MPICH's ranks costs: UCX patches functions of the C library, to hear of memory that is
# unmapped, which only registered memory needs. A sixth of Open MPI's: it makes UCX's transports to drop them, and keeps
# what processes tell each other in files.
os.environ.setdefault("UCX_MEM_EVENTS", "n")
# Ranks of one machine need none of UCX's other transports, which it opens, looks after and closes: two fifths of the
# start, a fifth of all that calls with MPICH cost. Hosts of a lab do.
os.environ.setdefault("UCX_TLS", "posix,self")
os.environ.setdefault("OMPI_MCA_pml", "ob1")
os.environ.setdefault("PMIX_MCA_gds", "hash")

# Ranks outnumber cores, also of programs that are not started by Hocket. MPICH's otherwise give theirs up for a moment
# only: with a short sleep calls take longer, but a quarter less of the processors.
for name, value in {**GIVE_WAY, "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}.items():
    os.environ.setdefault(name, value)

# Those moments, and the runtime's sleeps, end 50 us late unless a process may be woken later, which what it starts
# inherits. At 300 us tests of calls with MPICH take a quarter less of the processors; those of two levels, whose ranks
# mostly yield, a twentieth.
with suppress(OSError):
    Path("/proc/self/timerslack_ns").write_text("300000")

# numpy starts a thread for each core, which costs ranks in Python a twentieth; no test needs them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


# A shell that starts tests in the background has them ignore Ctrl-C, of which some are about.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    builds.prepare(config)


def pytest_runtest_setup() -> None:
    """``make check`` says until when tests may begin."""
    if time.time() > float(os.environ.get("HOCKET_TEST_UNTIL", "inf")):
        pytest.skip("left to `make test`: the time of `make check` is over")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that wait for each other come first: --dist worksteal gives them to one worker, and the others take what is
    last in its list."""
    items.sort(key=lambda item: item.get_closest_marker("lab") is None)
    for item in items:
        if item.get_closest_marker("by_turns") and not mpi_has_its_turn(item):
            item.add_marker("slow")


def mpi_has_its_turn(item: pytest.Item) -> bool:
    """Each value of a parameter comes to both MPIs if there is another parameter beside. Where there is no Open MPI,
    MPICH has all."""
    params: dict[str, object] = item.callspec.params if hasattr(item, "callspec") else {}
    marks = list(item.iter_markers("parametrize"))
    if (
        "mpi" not in params
        or any(mark.args[0] == "mpi" for mark in marks)
        or "HOCKET_TEST_OPENMPI" not in os.environ
    ):
        return True
    is_open_mpi = getattr(params["mpi"], "__name__", str(params["mpi"])).startswith("open")
    first = len(item.name.partition("[")[0])  # tests without parameters are dealt out, too
    return (first + sum(place_of(mark, params) for mark in marks)) % 2 == is_open_mpi


def place_of(mark: pytest.Mark, params: dict[str, object]) -> int:
    """Number of the case that a test has among those of a ``parametrize``."""
    names, cases = mark.args
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    for number, case in enumerate(cases):
        values = case.values if hasattr(case, "marks") else case if len(names) > 1 else (case,)
        if all(params[name] is value for name, value in zip(names, values, strict=True)):
            return number
    raise AssertionError(f"{names} are parametrized otherwise")


@pytest.fixture(scope="session", autouse=True)
def programs_keep_their_pages() -> None:
    """Programs take and return buffers of some hundred kilobytes for each call: mapping them anew takes a quarter of
    the time. The processes that run tests began without these, so that their own memory does not only grow."""
    os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", str(1 << 30))
    os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(1 << 30))


@pytest.fixture(autouse=True)
def one_lab_at_a_time(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tests marked ``lab`` look for what labs have left on this machine."""
    if request.node.get_closest_marker("lab") is None:
        yield
        return
    monkeypatch.delenv("UCX_TLS", raising=False)
    with (Path(tempfile.gettempdir()) / "hocket-test-lab.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
