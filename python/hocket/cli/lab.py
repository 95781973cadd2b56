"""``hocket lab``: an emulated switched cluster on this machine."""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import click

from hocket import _core
from hocket.cli._shared.commands import Choice, Number, Whole, gathered, given, group, named, option
from hocket.cli._shared.launching import check_program, choose_option, mpi_option
from hocket.cli._shared.options import flow_option, ranks_option, uplink_options
from hocket.cli._shared.work import json_option, tell, wants_json
from hocket.errors import UsageError
from hocket.lab import Lab, LabOptions, all_labs, down_all, load, take_down
from hocket.lab.cluster import check_network
from hocket.lab.fidelity import Watch
from hocket.lab.slurm import slurm
from hocket.lab.state import LabState, check_ranks
from hocket.lab.wires import HOST_PORT
from hocket.launch.environment import RuntimeOptions
from hocket.launch.mpi import Mpi, find_mpi, lab_environment
from hocket.launch.placement import paths_environment
from hocket.network import NetworkDescription, read_network_description
from hocket.network.source import STDIN
from hocket.order import DEFAULT_CALLS, order_job, parse_wanted
from hocket.order.job import job_of
from hocket.system.signals import as_exceptions
from hocket.system.text import picked
from hocket.units import format_bytes, format_rate, parse_bytes, parse_rate


def schedule_environment(
    mpi: Mpi, description: NetworkDescription, flow: str, choose: str | None
) -> Mapping[str, str]:
    """The environment in which a program's collective calls follow Hocket's schedules."""
    from hocket.launch.environment import scheduled_environment

    options = RuntimeOptions(flow_control=flow, choose=choose)
    return scheduled_environment(mpi.mpicc, description.build(), options) | paths_environment(description)


def _ordered(
    network: _core.Network, hosts: Sequence[tuple[str, int]], ranks: int, wanted: str
) -> list[tuple[str, int]]:
    """The hosts that so many ranks fill, in the order of 'hocket order'."""
    filled, left = [], ranks
    for name, places in hosts:
        if left > 0:
            filled.append((name, min(places, left)))
        left -= places
    job = job_of(network, filled)
    return order_job(job, parse_wanted(wanted, ranks, _core.limits.reference_bytes), whole_hosts=True).blocks


def _options(
    *, rate: str | None, buffer: str, cc: str, oversubscription: tuple[float, ...] | None, **others: Any
) -> LabOptions:
    every = named("--rate", parse_rate, rate) if rate else None
    size = named("--buffer", parse_bytes, buffer)
    options = LabOptions(every, size, cc, oversubscription=oversubscription or "auto", **others)
    options.check()
    return options


# What wires are like, as one argument ``options``.
_wire_options = gathered(
    "options",
    _options,
    option("--rate RATE", "Rate of every link, such as 50Mbit.  [default: the network's]"),
    option("--buffer SIZE", "Buffer of each port.", default="60KB"),
    option("--cc NAME", "TCP congestion control.", default="cubic"),
    option("--mtu", "Size of an IP packet, bytes.", type=Whole(576, 9216), default=1500),
    uplink_options,
    option("--ecmp", "Make switches routers, which choose among equally short paths by a hash."),
    option("--ecmp-seed N", "Seed of the hash.  [default: the kernel's]", type=Whole(0, 2**20 - 1)),
)


def _check_left_to_slurm() -> None:
    for each in given("ranks", "native", "shuffle", "distribution", "order", "flow", "choose"):
        raise UsageError(
            f"--slurm leaves {each} to the command",
            remedy="give ranks and their places to srun (-n, --distribution), the rest to 'hocket env'",
        )


@group("hocket lab run --network tree:2x4 -- ./program", "hocket lab up cluster.toml --rate 20Mbit")
def lab() -> None:
    """Emulate a switched cluster on this machine (Linux, root)."""


@lab.command(examples=("hocket lab up cluster.toml", "hocket lab up tree:4x8 --rate 20Mbit --json"))
@click.argument("network")
@_wire_options
@json_option
def up(network: str, options: LabOptions) -> None:
    """Build NETWORK and leave it up until 'hocket lab down'."""
    if network == STDIN:
        raise UsageError(
            "a lab that stays up reads its network again, and standard input is read once",
            remedy="write the network to a file first",
        )
    with as_exceptions():
        cluster = Lab.up(read_network_description(network), options, keep=True)
    tell(
        _describe(cluster.state),
        lambda: [
            f"lab {cluster.id} is up: {len(cluster.state.hosts)} hosts, {cluster.ranks} ranks",
            f"  hocket lab run --id {cluster.id} -- PROGRAM    hocket lab down {cluster.id}",
        ],
        indent=2,
    )


@lab.command(
    context_settings={"allow_interspersed_args": False},
    examples=(
        "hocket lab run --network tree:2x4 --rate 20Mbit -- ./program",
        "hocket lab run --network 'tree:2x4*2' --slurm -- sh job.sh",
    ),
)
@option("--network NETWORK", "Network to build for the run and to remove afterwards.")
@option("--id ID", "Lab to use, which 'hocket lab up' has built.", "lab_id")
@mpi_option
@ranks_option("all that the hosts hold")
@_wire_options
@option("--native", "Run without Hocket's runtime.")
@option("--slurm", "Start Slurm on the hosts, and run PROGRAM (srun, sbatch, a job script) on the first one.",
        "with_slurm")  # fmt: skip
@option("--shuffle SEED", "Place the ranks on the hosts in a random order, by this seed.",
        type=Whole(0, 2**63 - 1))  # fmt: skip
@option("--distribution", "Placement of ranks on hosts that hold several.", type=Choice(["block", "cyclic"]),
        default="block")  # fmt: skip
@flow_option("Flow control: token, window:K, barrier or free.", default="token", show_default=True)
@option("--order", "Place ranks on the hosts, after --shuffle, as 'hocket order' does.")
@option("--for CALL[,CALL…]", "Calls for which --order orders the ranks.", "wanted",
        default=",".join(DEFAULT_CALLS))  # fmt: skip
@choose_option
@option("--timeout SECONDS", "Stop the program after this time, with exit code 124.", type=Number(min=0))
@json_option
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def run(
    network: str | None,
    lab_id: str | None,
    mpi_name: str | None,
    ranks: int | None,
    native: bool,
    with_slurm: bool,
    shuffle: int | None,
    distribution: str,
    order: bool,
    wanted: str,
    flow: str,
    choose: str | None,
    timeout: float | None,
    program: tuple[str, ...],
    options: LabOptions,
) -> None:
    """Run an MPI PROGRAM in an emulated cluster, by default with one rank a host or as the network states.

    With --slurm, PROGRAM is a command of a Slurm user, such as srun --mpi=pmi2 ./program. Its collectives are scheduled
    if the command itself calls 'hocket env'."""
    if with_slurm:
        _check_left_to_slurm()
    if (network is None) == (lab_id is None):
        raise UsageError(
            "give either --network or --id", remedy="'hocket lab status' lists the labs that are up"
        )
    mpi = find_mpi(mpi_name)
    if not with_slurm:
        check_program(program[0], mpi)
    description = read_network_description(network) if network is not None else None
    if description is not None:
        check_network(description, options.ecmp)
        check_ranks(ranks, sum(node.ranks for node in description.nodes))
    with as_exceptions(), ExitStack() as stack:
        if description is not None:
            cluster = stack.enter_context(Lab.up(description, options))
        else:
            cluster = Lab.attach(lab_id or "")
            description = read_network_description(cluster.state.network)
        if with_slurm:
            variables = stack.enter_context(slurm(cluster, description))
            command = [
                "env", *(f"{name}={value}" for name, value in {**lab_environment(mpi, HOST_PORT), **variables}.items()),
                *program,
            ]  # fmt: skip
            watch = stack.enter_context(Watch(cluster.state))
            result = cluster.call(cluster.state.hosts[0].name, command, timeout=timeout, capture=wants_json())
        else:
            env: Mapping[str, str] = {}
            wired = LabOptions(**cluster.state.options).wired(description)
            hosts = cluster.places(shuffle)
            if order:
                hosts = _ordered(wired.build(), hosts, ranks or cluster.ranks, wanted)
            if not native:
                env = schedule_environment(mpi, wired, flow, choose)
            watch = stack.enter_context(Watch(cluster.state))
            result = cluster.run(
                program, mpi=mpi, ranks=ranks, env=env, timeout=timeout, capture=wants_json(),
                cyclic=distribution == "cyclic", hosts=hosts,
            )  # fmt: skip
    if wants_json():
        report = {
            "mpi": mpi.family.value,
            "native": native,
            "ranks": ranks or cluster.ranks,
            "shuffle": shuffle,
            "distribution": distribution,
            "order": order,
            **picked(result, "exit_code", "timed_out", "seconds", "output"),
            "fidelity": watch.result.to_json(),
            "lab": _describe(cluster.state),
        }
        click.echo(json.dumps(report, indent=2))
    else:
        if result.timed_out:
            click.echo(f"hocket lab: the program was stopped after {timeout:g} s", err=True)
        for line in watch.result.text().splitlines():
            click.echo(f"hocket lab: {line}", err=True)
    sys.exit(result.exit_code if result.exit_code >= 0 else 128 - result.exit_code)


@lab.command(examples=("hocket lab down 3f2a", "hocket lab down --all"))
@click.argument("lab_id", metavar="ID", required=False)
@option("--all", "Remove every lab of this machine.", "everything")
@json_option
def down(lab_id: str | None, everything: bool) -> None:
    """Remove the lab ID, or all labs. Programs inside are killed."""
    if (lab_id is None) == (not everything):
        raise UsageError("give a lab's ID or --all", remedy="'hocket lab status' lists the labs that are up")
    if everything:
        gone = down_all()
    else:
        state = load(lab_id or "")
        take_down(state)
        gone = [state.id]
    tell({"removed": gone}, lambda: [f"removed: {', '.join(gone) or 'nothing was up'}"])


@lab.command(examples=("hocket lab status", "hocket lab status --json"))
@json_option
def status() -> None:
    """List the labs of this machine."""
    labs = [_describe(state) for state in all_labs()]
    tell({"labs": labs}, lambda: map(_line, labs) if labs else ["no lab is up"], indent=2)


def _line(lab: dict[str, Any]) -> str:
    options = lab["options"]
    rate = format_rate(options["rate"]) if options.get("rate") else "the network's rates"
    owner = f"process {lab['owner']}" if lab["owner"] else "stays"
    wires = f"{rate}, {format_bytes(options['buffer'])} buffers, {options['congestion_control']}"
    return (
        f"{lab['id']}  {lab['network'] or '-'}  {len(lab['hosts'])} hosts  {wires}  "
        f"{'stale' if lab['stale'] else owner}"
    )


def _describe(state: LabState) -> dict[str, Any]:
    return {
        "id": state.id,
        "network": state.network,
        "options": state.options,
        "hosts": [
            {"name": h.name, "ranks": h.ranks, "address": h.address.split("/")[0]} for h in state.hosts
        ],
        "switches": [node.name for node in state.nodes if not node.ranks],
        "owner": state.owner[0] if state.owner else None,
        "stale": state.is_stale(),
    }


__all__ = ["lab"]
