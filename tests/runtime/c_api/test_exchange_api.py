"""hocket.h and hocket.Exchange: every byte checked, tables kept in files, refusals."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hocket.launch.mpi import Mpi
from mpi_programs import compile_with_hocket, hocket, mpiexec, python_env
from plan_file import checksum

pytestmark = pytest.mark.by_turns

PROGRAMS = Path(__file__).parents[1] / "programs"
HEADER = 24  # magic, version, checksum

Start = Callable[..., str]
Launch = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def program(mpi: Mpi) -> Path:
    """exchange_check, compiled and linked as `hocket info` says."""
    return compile_with_hocket(mpi, PROGRAMS / "exchange_check.c")


@pytest.fixture
def start(mpi: Mpi, program: Path) -> Start:
    def run(ranks: int, *arguments: object, env: dict[str, str] | None = None) -> str:
        said = mpiexec(mpi, ranks, [str(program), *map(str, arguments)], env or {})
        assert "ok " in said and " 0 wrong" in said, said
        return said

    return run


@pytest.fixture(scope="module")
def saved(mpi: Mpi, program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prefix of a table of three ranks."""
    prefix = tmp_path_factory.mktemp(f"{mpi.family.value}-table") / "table"
    mpiexec(mpi, 3, [str(program), "save", str(prefix)], {})
    return prefix


def file_of(prefix: Path, rank: int) -> Path:
    return prefix.with_name(f"{prefix.name}.{rank}")


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_every_byte_arrives(start: Start, ranks: int) -> None:
    start(ranks, "run")


def test_small_segments(start: Start) -> None:
    start(4, "run", 20000, env={"HOCKET_SEGMENT": "1031"})


def test_on_the_network_of_hocket_run(launch: Launch, program: Path) -> None:
    done = launch([str(program), "run"], "chain:2,3", 5)
    assert done.returncode == 0, done.stderr
    assert " 0 wrong" in done.stdout


def test_uplinks_that_cannot_be_measured_stay_assumed(launch: Launch, program: Path, tmp_path: Path) -> None:
    """Here all hosts are one machine."""
    network = tmp_path / "topology.conf"
    network.write_text("SwitchName=a Nodes=a[0-1]\nSwitchName=b Nodes=b[0-1]\nSwitchName=t Switches=a,b\n")
    done = launch([str(program), "run"], str(network), 4)
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stderr
    assert done.stderr.count("the schedule rests on the assumed width") == 1, done.stderr


@pytest.mark.parametrize("ranks", [1, 3])
def test_wrong_arguments_of_one_rank_are_refused_on_all(start: Start, ranks: int) -> None:
    start(ranks, "refuse")


def test_a_kept_table_runs_again(start: Start, saved: Path) -> None:
    assert "refused" not in start(3, "load", saved)


def test_tables_of_other_ranks_are_refused(start: Start, saved: Path, tmp_path: Path) -> None:
    for ranks in (2, 4):
        refusal = f"refused: -6 {saved}.0: made for 3 ranks, not {ranks}; schedule again"
        assert refusal in start(ranks, "load", saved)
    swapped = tmp_path / "swapped"
    for rank, other in ((0, 0), (1, 2), (2, 1)):
        file_of(swapped, rank).write_bytes(file_of(saved, other).read_bytes())
    assert "made for rank 2, not 1; schedule again" in start(3, "load", swapped)


def test_mixtures_are_refused(start: Start, saved: Path, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed"
    start(3, "save", mixed, 2)
    file_of(mixed, 1).write_bytes(file_of(saved, 1).read_bytes())
    assert f"refused: -6 the files {mixed}.* do not belong together" in start(3, "load", mixed)


def test_a_table_of_another_network_is_refused(launch: Launch, program: Path, saved: Path) -> None:
    done = launch([str(program), "load", str(saved)], "chain:2,1", 3)
    assert "refused: -6" in done.stdout and "another network" in done.stdout, done.stdout + done.stderr


def damages(data: bytes) -> Iterator[bytes]:
    """Bytes altered, cut off and added; and altered bytes under a checksum that is right again."""
    places = [*range(HEADER + 8), *range(HEADER + 8, len(data), 7)]
    for i, place in enumerate(places):
        yield data[:place] + bytes([data[place] ^ (1 << i % 8)]) + data[place + 1 :]
    for length in [0, 7, 8, 15, 23, 24, 31, *range(HEADER + 8, len(data), 29)]:
        yield data[:length]
    yield data + b"\0"
    for place in range(HEADER + 8, len(data), 5):
        body = data[HEADER:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
        yield data[: HEADER - 8] + struct.pack("<Q", checksum(body)) + body


def test_damaged_files_are_refused(start: Start, saved: Path, tmp_path: Path) -> None:
    whole = file_of(saved, 1).read_bytes()
    prefixes = []
    for number, data in enumerate(damages(whole)):
        prefixes.append(prefix := tmp_path / str(number))
        file_of(prefix, 1).write_bytes(data)
        for rank in (0, 2):
            file_of(prefix, rank).symlink_to(file_of(saved, rank))
    listed = tmp_path / "list"
    listed.write_text("".join(f"{prefix}\n" for prefix in prefixes))
    assert f"refused {len(prefixes)}, loaded 0" in start(3, "each", listed)
    assert "refused: -5 rank 1: " in start(3, "load", prefixes[40])


def test_python(mpi: Mpi, tmp_path: Path) -> None:
    env = python_env(mpi)
    script = str(PROGRAMS / "exchange_check.py")
    said = mpiexec(mpi, 3, [sys.executable, script, str(tmp_path / "table")], env)
    assert "ok" in said and mpi.family.value in said.lower().replace(" ", ""), said


def test_config_prints_flags(mpi: Mpi) -> None:
    flags = hocket("info", "--libs", "--mpi", mpi.mpiexec).split()
    assert "-lhocket_runtime" in flags
    (include,) = hocket("info", "--cflags", "--mpi", mpi.mpiexec).split()
    assert (Path(include.removeprefix("-I")) / "hocket.h").is_file()


def test_mpi4py_missing() -> None:
    code = "import sys; sys.modules['mpi4py'] = None; import hocket; hocket.Exchange(None, {})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert "MissingToolError: mpi4py is missing" in done.stderr
    assert "pip install 'hocket[mpi4py]'" in done.stderr
