"""hocket-sort: files sorted with both MPIs, what is refused, and that nothing is left half written."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hocket.cli.sort import _summary
from hocket.launch.mpi import Mpi
from hocket.launch.runtime import find_sort
from hocket.sorting.job import Report, Step

RECORD = np.dtype([("id", "<i8"), ("name", "S5"), ("weight", ">f4")])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sort(mpi: Mpi, program) -> Callable:
    """``hocket-sort`` with the MPI at hand; returns what it said."""
    pytest.importorskip("mpi4py")
    find_sort(mpi.mpicc)

    def run(*arguments: object) -> str:
        answer = program("hocket-sort", *arguments, "--mpi", mpi.mpiexec)
        assert (answer.code, answer.err) == (0, ""), answer.err
        return answer.out

    return run


def names() -> list[str]:
    """Names of all files in the working directory."""
    return sorted(path.name for path in Path().iterdir())


def some_keys(n: int, dtype: str = "u4") -> np.ndarray:
    keys = np.random.default_rng(n).integers(0, 100, n).astype(dtype)
    if keys.dtype.kind == "f":
        keys[::7], keys[::5], keys[1::5] = np.nan, -0.0, 0.0
    return keys


def test_keys_and_what_moves_with_them(sort) -> None:
    keys = some_keys(5000, ">f4")
    rows = np.random.default_rng(1).random((5000, 3))
    np.save("keys.npy", keys)
    np.save("rows.npy", rows)
    said = sort("keys.npy", "sorted.npy", "-n", 3, "--payload", "rows.npy", "moved.npy", "--report")
    order = np.argsort(keys, kind="stable")
    assert np.load("sorted.npy").tobytes() == keys[order].tobytes()
    assert np.load("sorted.npy").dtype == keys.dtype
    assert np.load("moved.npy").tobytes() == rows[order].tobytes()
    steps = [line.split("  ")[0] for line in said.splitlines()]
    assert (
        steps[0] == "step" and steps[1] == "read" and steps[-4:-1] == ["write", "sort, all steps", steps[-2]]
    )
    assert "first touch" in steps and steps[-2].startswith("first touch: ")
    assert steps[-1].startswith("sorted 5,000 rows (140 KB) with 3 ranks in ")
    assert names() == ["keys.npy", "moved.npy", "rows.npy", "sorted.npy"]


def test_the_report_adds_up() -> None:
    steps = (Step("read", 0.5), Step("presort copy", 0.12345, 0.1), Step("first touch", 0.08, 0.08),
             Step("scan", 1.5e-5, 3e-5), Step("write", 1.0))  # fmt: skip
    report = Report("radix", 2, 1000, 4000, 1.7, 1.001, steps)
    lines = [re.split("  +", line) for line in _summary(report, with_steps=True).splitlines()]
    assert lines[0] == ["step", "time", "MB/s", "predicted", "error"]
    assert lines[1] == ["read", "500 ms", "0.008"]
    assert lines[2] == ["presort copy", "123 ms", "0.0324", "100 ms", "-19%"]
    assert lines[4] == ["scan", "15 us", "267", "30 us", "+100%"]
    assert lines[6] == ["sort, all steps", "203 ms", "0.0197", "180 ms", "-12%"]
    assert lines[7][0].startswith("first touch: memory that ranks share is made")
    later = Report("radix", 2, 1000, 4000, 1.7, 1.001, tuple(s for s in steps if s.name != "first touch"))
    assert "first touch" not in _summary(later, with_steps=True)


@pytest.mark.by_turns
def test_records_by_a_field_on_a_network(sort) -> None:
    records = np.zeros(999, RECORD)
    records["id"], records["weight"] = np.arange(999), some_keys(999)
    np.save("records.npy", records)
    network = ("--network", "chain:2,2@1Gbit", "--placement", "order")
    said = sort(
        "records.npy", "records.npy", "--key", "weight", "-n", 4, "--method", "sample", "--json", *network
    )
    report = json.loads(said)
    assert (report["method"], report["rows"], report["bytes"]) == ("sample", 999, records.nbytes)
    assert np.load("records.npy").tobytes() == records[np.argsort(records["weight"], kind="stable")].tobytes()


@pytest.mark.by_turns
def test_fewer_rows_than_ranks(sort) -> None:
    for keys in (some_keys(0, "i2"), some_keys(2, "?")):
        np.save("keys.npy", keys)
        sort("keys.npy", "sorted.npy", "-n", 3)
        assert np.load("sorted.npy").tobytes() == np.sort(keys).tobytes()
        assert np.load("sorted.npy").dtype == keys.dtype


@pytest.fixture
def files() -> None:
    np.save("keys.npy", some_keys(100))
    np.save("short.npy", some_keys(99))
    np.save("matrix.npy", np.zeros((100, 2)))
    np.save("columns.npy", np.asfortranarray(np.zeros((100, 2))))
    np.save("objects.npy", np.array(["a", None]), allow_pickle=True)
    np.save("complex.npy", np.zeros(3, complex))
    np.save("long.npy", np.zeros(3, np.longdouble))
    np.save("text.npy", np.array(["a", "b"]))
    np.save("number.npy", np.array(7))
    np.save("records.npy", np.zeros(3, RECORD))
    Path("note.npy").write_text("no array")
    Path("cut.npy").write_bytes(Path("keys.npy").read_bytes()[:-1])
    Path("damaged.npy").write_bytes(Path("keys.npy").read_bytes().replace(b"descr", b"desrc"))
    Path("folder").mkdir()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("no.npy out.npy", "no.npy: no such file; name a .npy file"),
        ("folder out.npy", "folder: is a directory"),
        ("note.npy out.npy", "note.npy: is not a .npy file; save an array with numpy.save"),
        ("cut.npy out.npy", "cut.npy: holds 399 bytes of an array, its header says 400; is the file whole?"),
        ("damaged.npy out.npy", "damaged.npy: the header of the array is damaged"),
        ("number.npy out.npy", "number.npy: is a single number"),
        ("matrix.npy out.npy", "matrix.npy: has 2 dimensions; keys have one"),
        ("objects.npy out.npy", "objects.npy: holds Python objects"),
        ("complex.npy out.npy", "keys of type complex128 cannot be sorted; give integers of 8 to 64 bits"),
        ("long.npy out.npy", "cannot be sorted"),
        ("text.npy out.npy", "keys of type <U1 cannot be sorted"),
        ("records.npy out.npy", "records.npy: holds records of id, name, weight; say by --key"),
        ("records.npy out.npy --key size", "has no field 'size'; its records hold id, name, weight"),
        ("records.npy out.npy --key name", "keys of type |S5 cannot be sorted"),
        ("keys.npy out.npy --key id", "has no field 'id'; it holds no records"),
        ("records.npy out.npy --key id --payload matrix.npy m.npy", "records move as a whole"),
        ("keys.npy out.npy --payload short.npy s.npy", "keys.npy has 100 keys, short.npy has 99 rows"),
        ("keys.npy out.npy --payload columns.npy c.npy", "(Fortran order); save numpy.ascontiguousarray"),
        ("keys.npy out.npy --payload matrix.npy ./out.npy", "keys and rows cannot both go to out.npy"),
        ("keys.npy folder", "cannot write folder: it is a directory"),
        ("keys.npy none/out.npy", "cannot write none/out.npy: there is no directory none"),
        ("keys.npy /dev/null", "cannot write /dev/null: it is not a regular file"),
        ("keys.npy out.npy --memory much", "'much' is not a size"),
        ("keys.npy out.npy --mpi nothere", "'nothere' is not a launcher of MPICH or Open MPI"),
        ("keys.npy out.npy --network star:2 -n 3 --placement order", "3 ranks do not fit on the 2 places"),
    ],
)
def test_refused(hocket, files, arguments: str, says: str) -> None:
    before = names()
    answer = hocket("hocket-sort", *arguments.split())
    assert answer.code == 2 and answer.err.count("\n") == 1, answer.err
    assert answer.err.startswith("hocket: ") and says in answer.err
    assert names() == before


@pytest.mark.by_turns
def test_more_than_memory(mpi: Mpi, program, files) -> None:
    pytest.importorskip("mpi4py")
    answer = program("hocket-sort", "keys.npy", "keys.npy", "-n", 2, "--mpi", mpi.mpiexec, "--memory", "300B")
    assert answer.code == 2 and answer.err.count("\n") == 1, answer.err
    assert "hocket: sorting 400 B with 2 ranks needs about " in answer.err
    assert " per rank, " in answer.err and " together; " in answer.err and " may use 300 B; " in answer.err
    assert np.load("keys.npy").tobytes() == some_keys(100).tobytes()


def test_a_full_disk(hocket, files, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": 100})
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    answer = hocket("hocket-sort", "keys.npy", "out.npy")
    assert answer.code == 2 and "out.npy will have 400 B, its file system has room for 100 B" in answer.err
    assert "out.npy" not in " ".join(names())


def stand_in(here: Path, script: str) -> str:
    """Script that the ranks start instead of Python."""
    path = here / "rank.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("kill -9 $$", "before all was sorted"),
        ("echo out of luck >&2; exit 7", "the ranks ended with exit code"),
        ("exit 0", "the ranks ended with exit code 0 before all was sorted"),
        ("""echo 'hocket-job:{"error": "it rained"}'; exec sleep 100""", "hocket: it rained"),
    ],
)
def test_a_rank_that_dies(hocket, files, here, monkeypatch, script: str, says: str) -> None:
    pytest.importorskip("mpi4py")
    monkeypatch.setattr("sys.executable", stand_in(here, script))
    before = names()
    answer = hocket("hocket-sort", "keys.npy", "keys.npy", "-n", 2)
    assert answer.code == 2 and answer.err.count("\n") == 1 and says in answer.err, answer.err
    assert names() == before
    assert np.load("keys.npy").tobytes() == some_keys(100).tobytes()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_nothing(files, here: Path, number: signal.Signals, code: int) -> None:
    pytest.importorskip("mpi4py")
    rank = stand_in(here, "echo $$ >> started; exec sleep 1000")
    call = f"import sys; from hocket.cli.sort import main; sys.executable = {rank!r}; sys.exit(main(sys.argv[1:]))"
    before = names()
    command = [sys.executable, "-c", call, "keys.npy", "out.npy", "-n", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: Path("started").exists() and Path("started").read_text().endswith("\n"))
        assert [name for name in names() if name.startswith(".out.npy.")]
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == code and "Traceback" not in said, said
    sleeper = int(Path("started").read_text())
    wait_for(lambda: not Path(f"/proc/{sleeper}").exists())
    assert names() == sorted([*before, "started"])


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
