"""``hocket network discover --slurm``: what the real scontrol tells, and a scontrol that does not answer."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from hocket.cli.discover import discover
from hocket.cli.lab import lab
from hocket.errors import HocketError, NetworkError
from hocket.network import read_network_description
from slurm_tools import mpich_or_skip


@pytest.mark.lab
def test_the_network_is_asked_of_the_real_controller(tmp_path: Path) -> None:
    mpich_or_skip()
    found = tmp_path / "found.toml"
    words = ("run", "--network", "tree:2x2x2", "--slurm", "--timeout", "60", "--json", "--",
             "hocket", "network", "discover", "--slurm", "-o", str(found))  # fmt: skip
    result = CliRunner().invoke(lab, list(words), catch_exceptions=False)
    assert json.loads(result.stdout)["exit_code"] == 0, result.output
    asked, given = read_network_description(str(found)), read_network_description("tree:2x2x2")

    def cables(network) -> set[frozenset[str]]:  # type: ignore[no-untyped-def]
        return {frozenset((link.a, link.b)) for link in network.links}

    assert cables(asked) == cables(given)
    assert {node.name for node in asked.nodes if node.is_host} == {f"n{host}" for host in range(8)}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'slurm_load_topo error: Unable to contact slurm controller' >&2; exit 1", "Unable to contact"),
        ("echo 'No topology information available'", "tells no switches"),
        ("echo 'SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-'", "scontrol"),
    ],
)
def test_a_controller_that_tells_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    fake = tmp_path / "scontrol"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(NetworkError, match=message) as caught:
        discover.main(["--slurm", "-o", str(tmp_path / "out.toml")], standalone_mode=False)
    assert caught.value.remedy and not (tmp_path / "out.toml").exists()


def test_one_system_is_asked() -> None:
    for words in (["--slurm", "--infiniband"], [], ["--slurm", "--names", "names.txt"]):
        with pytest.raises(HocketError):
            discover.main([*words, "-o", "out.toml"], standalone_mode=False)
