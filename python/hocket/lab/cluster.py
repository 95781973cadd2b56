"""An emulated switched cluster on this machine: real TCP, real queues, real drops."""

import fcntl
import os
import random
import re
import secrets
import shlex
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from hocket.errors import MissingToolError, NetworkError, UsageError
from hocket.lab import namespaces, state, watchdog, wires
from hocket.lab.state import MOST_HOSTS, LabOptions, check_ranks, check_rate
from hocket.launch import TimedOutError, attached, captured
from hocket.launch.mpi import Mpi, lab_environment, launch_command
from hocket.network.description import NetworkDescription
from hocket.network.parts import Shape
from hocket.system import signals
from hocket.system.files import real_path

_ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_FIRST_ROUTER = 255 << 16 | 1  # 10.255.0.1
TIMED_OUT = 124  # exit code, as of timeout(1)
_TREES = "the lab emulates trees of switches; with --ecmp any graph of routers"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")


@dataclass(frozen=True, slots=True)
class RunResult:
    """Result of a program: exit code (124 after a timeout), seconds, its output if captured."""

    exit_code: int
    seconds: float
    timed_out: bool = False
    output: str = ""


def check_network(network: NetworkDescription, ecmp: bool = False) -> None:
    """Raise :class:`NetworkError` unless ``network`` is a tree of switches with hosts as leaves; with ``ecmp``
    any graph of switches will do."""
    if network.shape not in ("tree", "graph"):
        raise NetworkError("this network is not a tree", remedy=_TREES)
    if (hosts := sum(node.is_host for node in network.nodes)) > MOST_HOSTS:
        raise NetworkError(
            f"{hosts:,} hosts are too many for a lab, which is one machine",
            remedy=f"give a network of at most {MOST_HOSTS} hosts",
        )
    for node in network.nodes:
        if not _NAME.fullmatch(node.name):
            raise NetworkError(
                f"'{node.name}' cannot be a host name",
                where=node.where,
                remedy="use up to 63 letters, digits, '-', '_' and '.'",
            )
    shape: Shape = "graph" if ecmp else "tree"
    try:
        NetworkDescription(network.nodes, network.links, network.source, shape).build()
    except NetworkError as problem:
        raise NetworkError(problem.what, where=problem.where, remedy=_TREES) from None
    links = Counter(end for link in network.links for end in (link.a, link.b))
    for node in network.nodes:
        if node.is_host and len(network.nodes) > 1 and links[node.name] != 1:
            raise NetworkError(
                f"the host {node.name} has {links[node.name]} links",
                where=node.where,
                remedy="wire each host to one switch",
            )


@contextmanager
def _congestion_control_allowed(name: str) -> Iterator[None]:
    """Let namespaces choose the congestion control ``name``; the kernel allows only a few by default. Of labs that come
    up at once one waits for the other, which would take back what it relies on."""
    with ExitStack() as stack:
        folder = os.open(state.STATE_DIR, os.O_RDONLY)
        stack.callback(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        before = _ALLOWED.read_text(encoding="ascii").strip()
        if name not in before.split():
            try:
                _ALLOWED.write_text(f"{before} {name}\n", encoding="ascii")
            except OSError as error:
                there = _AVAILABLE.read_text(encoding="ascii").strip()
                raise UsageError(
                    f"this kernel has no congestion control '{name}'", remedy=f"give --cc one of: {there}"
                ) from error
            stack.callback(_ALLOWED.write_text, before + "\n", encoding="ascii")
        yield


class Lab:
    """An emulated cluster that is up. Leaving its context takes it down."""

    def __init__(self, lab_state: state.LabState) -> None:
        self.state = lab_state
        self._watchdog: subprocess.Popen[bytes] | None = None

    @classmethod
    def up(
        cls, network: NetworkDescription, options: LabOptions | None = None, *, keep: bool = False
    ) -> Self:
        """Build ``network``. With ``keep`` the lab outlives this process; otherwise it goes with it."""
        options = options or LabOptions()
        options.check()
        check_network(network, options.ecmp)
        namespaces.require_root()
        for tool in ("nsenter", "unshare", "mount"):
            if shutil.which(tool) is None:
                raise MissingToolError(f"{tool} was not found", remedy="install util-linux")
        state.down_all(only_stale=True)

        lab_id = secrets.token_hex(3)
        addresses, routers = iter(range(1, 1 << 24)), iter(range(_FIRST_ROUTER, 1 << 24))
        nodes = [
            state.LabNode(
                n.name,
                n.ranks,
                _address(next(addresses if n.is_host else routers)) if n.is_host or options.ecmp else "",
            )
            for n in network.nodes
        ]
        tmp = str(Path(tempfile.gettempdir()) / f"hkt-{lab_id}")
        owner = None if keep else (os.getpid(), state.start_time(os.getpid()))
        # Absolute, as a later command may be given elsewhere.
        file = Path(network.source)
        source = str(real_path(file)) if network.source and file.is_file() else network.source
        lab = cls(state.LabState(lab_id, nodes, tmp, owner, source, asdict(options)))
        try:
            lab.state.save()
            if not keep:
                lab._watchdog = watchdog.start(lab_id)
            lab._build(network, options)
        except BaseException:
            lab.down()
            raise
        return lab

    @classmethod
    def attach(cls, lab_id: str) -> Self:
        """The lab ``lab_id`` that another process has left up."""
        namespaces.require_root()
        return cls(state.load(lab_id))

    def _build(self, network: NetworkDescription, options: LabOptions) -> None:
        namespaces.prepare_netns_dir()
        ports: dict[str, list[wires.Port]] = {node.name: [] for node in network.nodes}
        ways: dict[tuple[str, str], list[str]] = {}  # ports of a node towards another
        node_of = {node.name: node for node in self.state.nodes}
        cables = []
        for link in options.wired(network).links:
            check_rate(link.rate, f"the rate of link {link.a} - {link.b}")
            ends = []
            for name, other in ((link.a, link.b), (link.b, link.a)):
                node = node_of[name]
                port_name = wires.HOST_PORT if node.ranks else f"p{len(ports[name])}"
                ports[name].append(wires.Port(port_name, link.rate))
                ways.setdefault((name, other), []).append(port_name)
                ends.append((self.state.net(node), port_name))
            cables.append(wires.Cable(ends[0], ends[1]))

        def host_settings() -> None:
            _quiet()
            Path("/proc/sys/net/ipv4/tcp_congestion_control").write_text(
                options.congestion_control, encoding="ascii"
            )

        def switch_settings(number: int) -> None:
            _quiet()
            if options.ecmp:
                wires.forward(None if options.ecmp_seed is None else options.ecmp_seed << 10 | number + 1)

        with _congestion_control_allowed(options.congestion_control):
            for number, node in enumerate(self.state.nodes):
                uts = self.state.uts(node) if node.ranks else None
                settings = host_settings if node.ranks else partial(switch_settings, number % 1024)
                namespaces.create(self.state.net(node), uts, node.name, settings)
        wires.lay(cables, options.mtu)
        hops = wires.next_hops(network) if options.ecmp else {}
        peers = [host.address for host in self.state.hosts]
        for node in sorted(self.state.nodes, key=lambda node: node.ranks > 0):
            if node.ranks:
                join = wires.host(node.address, peers, wires.ROUTER_ADDRESS if options.ecmp else "")
            elif options.ecmp:
                join = wires.router(node, hops[node.name], ways, node_of)
            else:
                join = wires.bridge(options.mtu)
            wires.configure(self.state.net(node), ports[node.name], options.buffer, join)
        if cables:
            for host in self.state.hosts:
                wires.wait_until_running(self.state.net(host), wires.HOST_PORT)

    @property
    def id(self) -> str:
        """The lab's id."""
        return self.state.id

    @property
    def ranks(self) -> int:
        """Number of ranks that the hosts hold."""
        return sum(host.ranks for host in self.state.hosts)

    def host_command(self, host: str, argv: Sequence[str]) -> list[str]:
        """The command that runs ``argv`` on ``host``; its environment needs :meth:`environment`."""
        return [self.state.agent, host, shlex.join(argv)]

    def environment(self) -> dict[str, str]:
        """Environment by which the agent finds this lab."""
        return self.state.environment()

    def run(
        self,
        argv: Sequence[str],
        *,
        mpi: Mpi,
        ranks: int | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        capture: bool = False,
        shuffle: int | None = None,
        cyclic: bool = False,
        hosts: Sequence[tuple[str, int]] | None = None,
    ) -> RunResult:
        """Run an MPI program, rank after rank on the hosts in their order; ``timeout`` in seconds.

        ``cyclic``: a rank on every host in turn, in place of all ranks of a host side by side.

        ``shuffle`` is the seed of a random order of the hosts: ranks that a launcher deals out cyclically, a cloud, a
        list of hosts in no order. Batch systems fill hosts in the network's order. ``hosts``: names and ranks in
        another order than that. Whatever is still running inside the lab afterwards is killed."""
        n = check_ranks(ranks, self.ranks)
        hosts = self.places(shuffle) if hosts is None else hosts
        settings = {**self.environment(), **lab_environment(mpi, wires.HOST_PORT), **(env or {})}
        command = launch_command(
            mpi, n, hosts, settings, argv, agent=self.state.agent, interface=wires.HOST_PORT, cyclic=cyclic
        )
        return self.call(hosts[0][0], command, timeout=timeout, capture=capture)

    def places(self, shuffle: int | None = None) -> list[tuple[str, int]]:
        """Hosts with their ranks in the network's order, or in a random one by a seed."""
        hosts = [(host.name, host.ranks) for host in self.state.hosts]
        if shuffle is not None:
            random.Random(shuffle).shuffle(hosts)
        return hosts

    def call(
        self, host: str, argv: Sequence[str], *, timeout: float | None = None, capture: bool = False
    ) -> RunResult:
        """Run a command on one host and clear the lab of processes when it has ended."""
        began, output, timed_out = time.monotonic(), "", False
        command, environment = self.host_command(host, argv), {**os.environ, **self.environment()}
        try:
            if capture:
                done = captured(command, environment, timeout, together=True)
                code, output = done.returncode, done.stdout
            else:
                code = attached(command, environment, timeout)
        except TimedOutError as late:
            code, output, timed_out = TIMED_OUT, late.output, True
        finally:
            with signals.held_back():
                self.state.kill_processes()
        return RunResult(code, time.monotonic() - began, timed_out, output)

    def down(self) -> None:
        """Remove the lab. May be repeated."""
        with signals.held_back():
            state.take_down(self.state)
        if self._watchdog is not None:
            with suppress(OSError):
                self._watchdog.stdin.close()  # type: ignore[union-attr]
            self._watchdog.wait()
            self._watchdog = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down()


def _address(number: int) -> str:
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}/8"


def _quiet() -> None:
    """Disable IPv6: its neighbour discovery would put packets of its own on slow links."""
    for name in ("all", "default"):
        with suppress(OSError):
            Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1", encoding="ascii")
