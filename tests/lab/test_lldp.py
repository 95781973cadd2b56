"""The real lldpd on hosts and switches of a lab, and what ``hocket network discover --lldp`` makes of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from hocket.cli.discover import discover
from hocket.errors import HocketError
from hocket.lab.cluster import Lab
from hocket.network import read_network_description

LIMIT = 60.0  # seconds until everybody must have heard its neighbours; a few in fact
SYSTEM = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"])


@pytest.mark.lab
def test_a_tree_is_found_by_its_daemons(tmp_path: Path) -> None:
    daemon, client = (shutil.which(tool, path=SYSTEM) for tool in ("lldpd", "lldpcli"))
    if daemon is None or client is None:
        pytest.skip("lldpd is not installed")
    network = read_network_description("tree:2x2")
    try:
        lab = Lab.up(network)
    except HocketError as problem:
        pytest.skip(str(problem))
    with lab:
        sockets = Path(lab.state.tmp)  # lldpd's own user has no way into the folder of a test
        sockets.mkdir(exist_ok=True)
        daemons = [started(lab, daemon, node.name, lab.state.net(node), sockets) for node in lab.state.nodes]
        try:
            degree = {node.name: 0 for node in network.nodes}
            for link in network.links:
                degree[link.a] += 1
                degree[link.b] += 1
            heard(client, {sockets / f"{name}.socket": count for name, count in degree.items()})
            for name in degree:
                (tmp_path / f"{name}.json").write_text(told(client, sockets / f"{name}.socket"))
        finally:
            for each in daemons:
                each.terminate()
            lab.state.kill_processes()
            for each in daemons:
                each.wait()
    output = tmp_path / "found.toml"
    answer = CliRunner().invoke(
        discover, ["--lldp", str(tmp_path), "-o", str(output)], catch_exceptions=False
    )
    assert "LLDP: a tree of 4 hosts, 3 switches, 6 links" in answer.output
    found = read_network_description(str(output))

    def cables(of: object) -> set[frozenset[str]]:
        return {frozenset((link.a, link.b)) for link in of.links}  # type: ignore[attr-defined]

    assert cables(found) == cables(network)
    assert {node.name for node in found.nodes if node.is_host} == {f"n{host}" for host in range(4)}


def started(lab: Lab, daemon: str, name: str, net: Path, folder: Path) -> subprocess.Popen[bytes]:
    """lldpd in a node's network namespace, with host name and /run of its own. Ports are p0, p1, … and e0.

    It asks for the address of its own name. Without the name in /etc/hosts it waits for a name server.
    """
    hosts = folder / f"{name}.hosts"
    hosts.write_text(f"127.0.0.1 {name} localhost\n")
    script = (
        'hostname "$0" && mount -t tmpfs none /run && mkdir /run/lldpd && mount --bind "$4" /etc/hosts && '
        'exec "$1" -d -u "$2" -I "p*,e*" -C br0 >"$3" 2>&1'
    )
    command = ["nsenter", f"--net={net}", "unshare", "--uts", "--mount", "sh", "-c", script]
    command += [name, daemon, str(folder / f"{name}.socket"), str(folder / f"{name}.log"), str(hosts)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, env={**os.environ, **lab.environment()})


def heard(client: str, expected: dict[Path, int]) -> None:
    """Waits until every daemon has heard its neighbours.

    They send every 30 s on their own: each is told to send at once, again and again. A daemon is paused
    while it starts. An update that falls in between writes the pause back, so each is told to resume too.
    """
    deadline = time.monotonic() + LIMIT
    waiting = dict(expected)
    while waiting:
        for socket in expected:
            run(client, socket, "resume")
            run(client, socket, "update")
        waiting = {socket: count for socket, count in waiting.items() if known(client, socket) < count}
        if waiting and time.monotonic() > deadline:
            logs = "".join(f"{socket}:\n{socket.with_suffix('.log').read_text()}" for socket in waiting)
            raise AssertionError(f"these have not heard their neighbours, as lldpd says:\n{logs}")


def known(client: str, socket: Path) -> int:
    """Number of neighbours that a daemon has heard; 0 while it cannot be asked."""
    try:
        said = json.loads(run(client, socket, "-f", "json0", "show", "neighbors"))
        return len(said["lldp"][0].get("interface", []))
    except (ValueError, LookupError):
        return 0


def told(client: str, socket: Path) -> str:
    return "".join(
        run(client, socket, "-f", "json", "show", *what) for what in (["chassis"], ["neighbors", "details"])
    )


def run(client: str, socket: Path, *words: str) -> str:
    done = subprocess.run(
        [client, "-u", str(socket), *words], capture_output=True, text=True, timeout=20, check=False
    )
    return done.stdout
