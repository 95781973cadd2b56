"""``hocket info``: versions, settings and algorithms."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hocket import __version__, _core
from hocket.launch.mpi import Mpi


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("HOCKET_") and not name.startswith("HOCKET_TEST"):
            monkeypatch.delenv(name)


@pytest.mark.usefixtures("clean")
def test_settings_with_their_origin(program, mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {
        **os.environ,
        "HOCKET_CHOOSE": "off",
        "HOCKET_MIN_BYTES": "4096",
        "HOCKET_HOST_MEMORY": "x",
        "HOCKET_NETWORK": "a.toml",
    }
    answer = program("info", "--mpi", mpi.mpiexec, "--json", env=environment)
    told = json.loads(answer.out)
    assert answer.code == 0 and (told["version"], told["network"]) == (__version__, "a.toml")
    found = {one["name"]: (one["value"], one["from"]) for one in told["settings"]}
    assert found.keys() == {variable.name for variable in _core.Variable.all()}
    assert found["HOCKET_CHOOSE"] == ("off", "environment")
    assert found["HOCKET_SEGMENT"] == ("16384", "default")
    assert found["HOCKET_FLOW_CONTROL"] == ("token", "default")
    assert found["HOCKET_MIN_BYTES"] == ("4096", "environment")
    (one,) = told["mpis"]
    assert one["mpiexec"] == mpi.mpiexec and one["version"].startswith(("MPICH", "Open MPI"))
    text = program("info", "--mpi", mpi.mpiexec, env=environment)
    assert "HOCKET_HOST_MEMORY='x' is not a whole number" in text.err
    assert __version__ in text.out and str(Path(told["cache"])) in text.out
    assert all(f"\n{name}" in text.out for name in found)


def test_algorithms(hocket, program) -> None:
    listed = hocket("info", "--json").object()["algorithms"]
    assert [one["name"] for one in listed] == [one.name for one in _core.Algorithm.all()]
    assert any(one["guarantee"] for one in listed)
    assert "Faraj and Yuan" in hocket("info", "tree").out
    assert "guarantee        no message is split" in hocket("info", "list").out
    assert [one["name"] for one in hocket("info", "tree", "--json").object()["algorithms"]] == ["tree"]
    unknown = hocket("info", "packing"[:-1])
    assert unknown.code == 2 and "did you mean 'packing'?" in unknown.err


@pytest.mark.parametrize("columns", [80, 110, 200])
def test_the_table_of_algorithms_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    from hocket.cli.info import entries_of, table

    monkeypatch.setenv("COLUMNS", str(columns))
    lines = table(entries_of(None)).splitlines()
    assert max(map(len, lines)) <= columns
    every = [one.pattern for one in _core.Algorithm.all()]
    assert sum(line.startswith("all-to-all") for line in lines) == every.count("all-to-all")


def test_an_mpi_without_a_compiler_is_told(hocket, tmp_path: Path) -> None:
    launcher = tmp_path / "mpiexec"
    launcher.write_text("#!/bin/sh\necho HYDRA build details: Version: 4.2\nexit 3\n")
    launcher.chmod(0o755)
    (one,) = hocket("info", "--mpi", launcher, "--json").object()["mpis"]
    assert one["runtime"].startswith("cannot be built: no MPI compiler wrapper")
