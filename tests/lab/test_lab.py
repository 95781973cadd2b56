"""The emulated cluster: it stands, its wires are as slow as asked, and nothing of it stays behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hocket.errors import HocketError, MissingToolError, NetworkError, UsageError
from hocket.lab import Lab, LabOptions, all_labs, cluster, down_all, state
from hocket.lab.fidelity import Watch
from hocket.launch import mpi as launch
from hocket.launch.mpi import MpiFamily, find_mpi
from hocket.launch.mpi import launch_command as command_of
from hocket.network.description import NetworkDescription
from hocket.network.parts import Link, Node

pytestmark = pytest.mark.by_turns

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("nsenter") is None, reason="the lab needs root and nsenter (util-linux)"
)
RATE = 20e6 / 8  # bytes/s


def two_switches(hosts: int = 2, ranks: int = 1, name: str = "h") -> NetworkDescription:
    """Two switches with ``hosts`` hosts each; all wires at ``RATE``."""
    network = NetworkDescription(nodes=[Node("sw0"), Node("sw1")], links=[Link("sw0", "sw1", RATE)])
    for number in range(2 * hosts):
        network.nodes.append(Node(f"{name}{number}", ranks))
        network.links.append(Link(f"sw{number // hosts}", f"{name}{number}", RATE))
    return network


def mpi_or_skip(family: str) -> launch.Mpi:
    folder = os.environ.get("HOCKET_TEST_OPENMPI")
    try:
        return find_mpi(str(Path(folder, "mpirun")) if folder and family == "openmpi" else family)
    except HocketError as error:
        pytest.skip(str(error))


def leftovers(lab_id: str) -> list[str]:
    """Everything on this machine that bears the lab's id."""
    found = [str(path) for path in Path("/run/netns").glob(f"hkt-{lab_id}*")]
    found += [str(path) for path in (state.STATE_DIR / lab_id, Path(f"/tmp/hkt-{lab_id}")) if path.exists()]
    found += [
        line for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines() if lab_id in line
    ]
    for process in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"HOCKET_LAB=/run/hocket/{lab_id}".encode() in process.read_bytes():
                found.append(str(process))
        except OSError:
            continue
    return found


def wait_until_clean(lab_id: str, seconds: float = 60.0) -> list[str]:
    deadline = time.monotonic() + seconds
    while (left := leftovers(lab_id)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


TRANSFER = """
import socket, sys, time
size = {size}
if sys.argv[1] == "serve":
    server = socket.create_server(("", 7000))
    peer, _ = server.accept()
    got = 0
    while got < size:
        got += len(peer.recv(1 << 16))
    peer.sendall(b"!")
else:
    for _ in range(100):
        try:
            peer = socket.create_connection((sys.argv[1], 7000), 1)
            break
        except OSError:
            time.sleep(0.05)
    began = time.monotonic()
    peer.sendall(bytes(size))
    peer.recv(1)
    print(size / (time.monotonic() - began))
"""


@pytest.mark.lab
@needs_root
def test_hosts_reach_each_other_no_faster_than_the_wire(tmp_path: Path) -> None:
    script = tmp_path / "transfer.py"
    script.write_text(TRANSFER.format(size=2_500_000), encoding="utf-8")
    with Lab.up(two_switches()) as lab:
        command = lab.host_command("h3", [sys.executable, str(script), "serve"])
        server = subprocess.Popen(command, env={**os.environ, **lab.environment()})
        # The server shares the lab, so the client's end would kill it: run the client by hand too.
        client = lab.host_command("h0", [sys.executable, str(script), "h3"])
        env = {**os.environ, **lab.environment()}
        with Watch(lab.state) as watch:
            done = subprocess.run(client, env=env, capture_output=True, text=True, timeout=60, check=True)
        server.wait(timeout=10)
    rate = float(done.stdout)
    assert rate < 1.1 * RATE  # a loaded machine may be slower, the wire is never faster
    seen = watch.result
    assert rate / RATE <= seen.busiest < 1.1 and seen.mean <= seen.busiest and 0 < seen.processors <= 1
    assert 0 <= seen.queued <= seen.buffer == LabOptions().buffer and seen.drops >= 0


@pytest.mark.lab
@needs_root
def test_each_host_has_its_name_its_temporary_directory_and_congestion_control() -> None:
    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text(encoding="ascii")
    with Lab.up(two_switches(), LabOptions(congestion_control="reno")) as lab:
        seen = set()
        for host in lab.state.hosts:
            script = "hostname; echo $TMPDIR; test -d $TMPDIR; cat /proc/sys/net/ipv4/tcp_congestion_control"
            result = lab.call(host.name, ["sh", "-ec", script], capture=True, timeout=20)
            assert result.exit_code == 0
            name, tmp, control = result.output.split()
            assert name == host.name and control == "reno"
            seen.add(tmp)
        assert len(seen) == 4
        assert leftovers(lab.id)
    assert leftovers(lab.id) == []
    assert Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text(encoding="ascii") == allowed


HELLO = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char name[64] = "", all[16][64];  /* MPI_Get_processor_name of Open MPI cuts names */
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gethostname(name, sizeof name - 1);
    MPI_Gather(name, sizeof name, MPI_CHAR, all, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; ++i) printf("%s ", all[i]);
    if (rank == 0) printf("GREETING=%s\n", getenv("GREETING"));
    MPI_Finalize();
}
"""


def hosts_of(output: str) -> list[str]:
    """Hosts that the program has printed; launchers may warn on other lines."""
    return re.findall(r"\bh\.\d\b", next(line for line in output.splitlines() if "GREETING=" in line))


@pytest.mark.lab
@needs_root
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
@pytest.mark.parametrize(
    ("ranks", "expected"), [(1, "h.0 h.1 h.2 h.3 "), (2, "h.0 h.0 h.1 h.1 h.2 h.2 h.3 h.3 ")]
)
def test_mpi_runs_rank_after_rank_on_the_hosts(
    family: str, ranks: int, expected: str, tmp_path: Path
) -> None:
    """Launchers that cut names at the first dot would take these hosts for one."""
    mpi = mpi_or_skip(family)
    source = tmp_path / "hello.c"
    source.write_text(HELLO, encoding="utf-8")
    program = tmp_path / "hello"
    subprocess.run([mpi.mpicc, str(source), "-o", str(program)], check=True, timeout=60)
    with Lab.up(two_switches(ranks=ranks, name="h.")) as lab:
        result = lab.run([str(program)], mpi=mpi, env={"GREETING": "a b"}, timeout=60, capture=True)
        assert result.exit_code == 0, result.output
        assert expected + "GREETING=a b" in result.output
        shuffled = lab.run([str(program)], mpi=mpi, timeout=60, capture=True, shuffle=1)
        order = hosts_of(shuffled.output)
        assert sorted(order) == expected.split() and order != expected.split()
        assert all(len(set(order[i : i + ranks])) == 1 for i in range(0, len(order), ranks))
        cyclic = lab.run([str(program)], mpi=mpi, timeout=60, capture=True, cyclic=True)
        assert hosts_of(cyclic.output) == ["h.0", "h.1", "h.2", "h.3"] * ranks
        with pytest.raises(UsageError, match="do not fit"):
            lab.run([str(program)], mpi=mpi, ranks=9)


@pytest.mark.lab
@needs_root
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_a_hocket_in_a_place_with_a_blank(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Launchers split their agent's path at blanks. Open MPI's now and then misses the end of a process, and waits."""
    place = tmp_path / "a place"
    place.mkdir()
    shutil.copy(Path(state.__file__).with_name("agent.sh"), place)
    monkeypatch.setattr(state, "__file__", str(place / "state.py"))
    with Lab.up(two_switches()) as lab:
        for _ in range(2):
            done = lab.run(
                ["sh", "-c", "uname -n; sleep 0.5"], mpi=mpi_or_skip(family), timeout=20, capture=True
            )
            if not done.timed_out:
                break
        assert {"h0", "h1"} <= set(done.output.split()) and done.exit_code == 0


@pytest.mark.lab
@needs_root
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_timeout_ends_the_ranks(family: str) -> None:
    mpi = mpi_or_skip(family)
    with Lab.up(two_switches()) as lab:
        result = lab.run(["sleep", "1000"], mpi=mpi, timeout=3)
        assert result.timed_out and result.exit_code == 124
        assert lab.state.processes() == []
    assert leftovers(lab.id) == []


@pytest.mark.lab
@needs_root
def test_a_launcher_that_has_not_reached_its_host_ends_with_the_lab() -> None:
    with Lab.up(two_switches()) as lab:
        launcher = subprocess.Popen(["sleep", "1000"], env={**os.environ, **lab.environment()})
    assert launcher.wait(timeout=10) == -signal.SIGKILL


OWNER = """
import sys
from hocket.lab import Lab
from hocket.launch.mpi import find_mpi
from hocket.system.signals import as_exceptions
sys.path.insert(0, {here!r})
from test_lab import two_switches
with as_exceptions(), Lab.up(two_switches()) as lab:
    print(lab.id, flush=True)
    lab.call("h1", ["sh", "-c", "sleep 1000 & sleep 1000"])
"""


@pytest.mark.lab
@needs_root
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_when_the_owner_is_stopped(number: signal.Signals) -> None:
    script = OWNER.format(here=str(Path(__file__).parent))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    owner = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=env,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # jobs in the background ignore it
    )  # fmt: skip
    assert owner.stdout is not None
    lab_id = owner.stdout.readline().strip()
    deadline = time.monotonic() + 15
    while len(leftovers(lab_id)) <= 4:  # until all of it is at work
        assert time.monotonic() < deadline
        time.sleep(0.05)
    owner.send_signal(number)
    owner.wait(timeout=20)
    assert wait_until_clean(lab_id) == []


@pytest.mark.lab
@needs_root
def test_a_kept_lab_stays_and_a_stale_one_goes() -> None:
    kept = Lab.up(two_switches(), keep=True)
    try:
        assert kept.id in [each.id for each in all_labs()]
        orphan = Lab.up(two_switches())
        orphan.state.owner = (orphan.state.owner[0], 1) if orphan.state.owner else None  # another process
        orphan.state.save()
        assert down_all(only_stale=True) == [orphan.id]
        orphan.down()
        again = Lab.attach(kept.id)
        assert again.call("h0", ["true"], timeout=10).exit_code == 0
    finally:
        kept.down()
    assert leftovers(kept.id) == []
    with pytest.raises(UsageError, match="there is no lab"):
        Lab.attach(kept.id)


@pytest.mark.lab
@needs_root
def test_thirty_two_hosts_stand_up() -> None:
    with Lab.up(two_switches(hosts=16)) as lab:
        assert lab.ranks == 32


@pytest.mark.lab
@needs_root
def test_labs_that_come_up_at_once_allow_congestion_control_by_turns() -> None:
    """The first would else take back what the second relies on."""
    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
    before, seen = allowed.read_text(encoding="ascii"), []

    def come_up() -> None:
        with cluster._congestion_control_allowed("cubic"):
            seen.append("cubic" in allowed.read_text(encoding="ascii").split())

    with Lab.up(two_switches()):  # which makes the folder of labs
        with cluster._congestion_control_allowed("cubic"):
            other = threading.Thread(target=come_up)
            other.start()
            other.join(0.3)
            assert other.is_alive() and not seen
        other.join(10)
    assert seen == [True] and allowed.read_text(encoding="ascii") == before


@pytest.mark.lab
@needs_root
def test_an_unknown_congestion_control_leaves_nothing() -> None:
    before = {each.id for each in all_labs()}
    with pytest.raises(UsageError, match="no congestion control 'nosuch'"):
        Lab.up(two_switches(), LabOptions(congestion_control="nosuch"))
    assert {each.id for each in all_labs()} == before


@pytest.mark.parametrize(
    "options",
    [
        LabOptions(rate=0.0),
        LabOptions(rate=1e12),
        LabOptions(buffer=100),
        LabOptions(mtu=9),
        LabOptions(congestion_control="no such"),
    ],
)
def test_options_out_of_range_are_refused(options: LabOptions) -> None:
    with pytest.raises(UsageError):
        options.check()


def test_only_trees_of_switches_are_emulated() -> None:
    cycle = two_switches()
    cycle.links.append(Link("sw1", "sw0", RATE))
    apart = two_switches()
    del apart.links[0]
    relay = two_switches()
    relay.nodes.append(Node("h9", 1))
    relay.links.append(Link("h0", "h9", RATE))
    strange = two_switches()
    strange.nodes[-1].name = "a b"
    for network in (cycle, apart, relay, strange, NetworkDescription()):
        with pytest.raises(NetworkError):
            cluster.check_network(network)


def test_without_root_the_lab_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MissingToolError, match="needs root"):
        Lab.up(two_switches())


def test_launch_commands() -> None:
    hosts = [("a", 1), ("b", 2)]
    mpich = command_of(
        launch.Mpi(MpiFamily.MPICH, "mpiexec"), 3, hosts, {"K": "v"}, ["prog", "x"], "agent", "e0"
    )
    assert " ".join(mpich) == (
        "mpiexec -launcher ssh -launcher-exec agent -iface e0 -hosts a:1,b:2 -genv K v -n 3 prog x"
    )
    openmpi = command_of(
        launch.Mpi(MpiFamily.OPENMPI, "mpirun"), 3, hosts, {"K": "v"}, ["prog"], "agent", "e0"
    )
    text = " ".join(openmpi)
    assert "plm_ssh_agent agent" in text and "--host a:1,b:2 --map-by slot" in text and "-x K=v" in text
    assert text.endswith("-n 3 prog")


def test_a_program_that_is_no_mpiexec_is_refused() -> None:
    with pytest.raises(UsageError, match="not a launcher"):
        find_mpi(sys.executable)
    with pytest.raises(UsageError, match="not a launcher"):
        find_mpi("/no/such/mpiexec")
