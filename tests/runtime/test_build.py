"""Building and caching the runtime; bad environments get one message."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hocket.errors import HocketError, MissingToolError, UsageError
from hocket.mpi import Mpi
from hocket.network import read_network
from hocket.runtime import RuntimeOptions, build_runtime
from hocket.runtime.build import cache_dir


def test_built_once_per_mpi(mpi: Mpi) -> None:
    first = build_runtime(mpi.mpicc)
    stamp = first.library.stat().st_mtime_ns
    assert build_runtime(mpi.mpicc) == first
    assert first.library.stat().st_mtime_ns == stamp
    assert first.shim.exists()


def test_no_mpicc() -> None:
    with pytest.raises(MissingToolError, match=r"no MPI compiler wrapper.*pip install mpich"):
        build_runtime("/nonexistent/mpicc")


def test_a_wrapper_of_no_mpi(tmp_path: Path) -> None:
    fake = tmp_path / "mpicc"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(MissingToolError, match="no MPI that Hocket knows"):
        build_runtime(str(fake))


def test_a_cache_that_others_can_write_to_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hocket").mkdir()
    (tmp_path / "hocket").chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(HocketError, match="can be written by other users"):
        cache_dir()


@pytest.mark.skipif(os.getuid() == 0, reason="root can write anywhere")
def test_an_unwritable_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o500)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(HocketError, match="cannot use the cache"):
        cache_dir()


@pytest.mark.parametrize("flow", ["window:0", "window:x", "tokens", "window:"])
def test_unknown_flow_control(flow: str) -> None:
    with pytest.raises(UsageError, match="flow control"):
        RuntimeOptions(flow=flow).environment()


def test_missing_placement_file() -> None:
    with pytest.raises(UsageError, match="placement file"):
        RuntimeOptions(placement="/nonexistent").where_ranks_are(read_network("star:3"), 3)
