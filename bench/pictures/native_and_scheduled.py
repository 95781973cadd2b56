"""Draws the links between the switches of a chain in a native all-gather, and below in a scheduled one.

    python bench/pictures/native_and_scheduled.py [FILE]

Both are simulated: 32 hosts on four switches, 50 Mbit/s, ranks at random over the hosts, 256 KiB a rank. The native
ring goes from rank to rank. The picture is docs/pictures/native-and-scheduled.png in the README.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib.colors import BoundaryNorm

from hocket import _core
from hocket.network import read_network
from hocket.pictures import style
from hocket.planning.plan import plan_collective

if TYPE_CHECKING:
    from numpy.typing import NDArray

PICTURE: Final = Path(__file__).parents[2] / "docs/pictures/native-and-scheduled.png"
BYTES: Final = 256 << 10
SWITCHES: Final = 4
HOSTS: Final = 8  # of a switch
SLOTS: Final = 900  # of time, over the whole width


def chain_with_ranks_at_random(seed: int) -> _core.Network:
    """Return a chain of switches whose hosts are numbered in a random order."""
    homes = [switch for switch in range(SWITCHES) for _ in range(HOSTS)]
    random.Random(seed).shuffle(homes)
    lines = ['[defaults]\nrate = "50Mbit"']
    for switch in range(SWITCHES):
        uplink = f'\nuplink = "s{switch - 1}"' if switch else ""
        lines.append(f'[[switch]]\nname = "s{switch}"{uplink}')
    lines += [f'[[host]]\nname = "n{host}"\nswitch = "s{home}"' for host, home in enumerate(homes)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "chain.toml")
        path.write_text("\n".join(lines))
        return read_network(str(path))


def messages_at_once(
    run: _core.Simulation, schedule: _core.Schedule, network: _core.Network, channels: list[int], slots: int
) -> NDArray[np.float64]:
    """Mean number of messages that each channel carries at once in each of ``slots`` equal intervals of the run;
    shape (channels, slots)."""
    edges = np.linspace(0, run.seconds, slots + 1)
    start, end = np.asarray(run.start), np.asarray(run.end)
    found = []
    for transfers in schedule.transfers_on(network, channels):
        chosen = np.asarray(transfers, dtype=np.int64)
        # What each message has carried until each edge of time, in seconds of carrying.
        carried = np.clip(edges[:, None] - start[chosen], 0, (end - start)[chosen]).sum(axis=1)
        found.append(np.diff(carried) * slots / run.seconds)
    return np.asarray(found)


def both(network: _core.Network) -> list[tuple[str, _core.Schedule, _core.Simulation]]:
    """Name, schedule and run of the library's ring and of the plan."""
    demand = _core.Demand(network.ranks, BYTES, "all-gather")
    native = _core.Algorithm.find("neighbor-ring", "all-gather").make(network, demand)
    planned = plan_collective("all-gather", network, BYTES)
    ours = _core.simulate(network, planned.schedule, planned.waits, "token")
    return [
        ("the library's ring, rank to rank", native, _core.simulate(network, native, None, "free")),
        ("Hocket", planned.schedule, ours),
    ]


def between_switches(network: _core.Network) -> list[int]:
    """Channels of the links between switches."""
    ranks, links = network.ranks_per_node, network.links
    return [c for c in range(network.channels) if all(ranks[end] == 0 for end in links[c // 2])]


def main() -> None:
    """Draws the picture to the file of the command line."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    network = chain_with_ranks_at_random(1)
    runs = both(network)
    longest = max(run.seconds for *_, run in runs)
    between = between_switches(network)
    names = []
    for channel in between:
        a, b = (network.names[end] for end in network.links[channel // 2])
        names.append(f"{a}→{b}" if channel % 2 == 0 else f"{b}→{a}")
    with style.context():
        figure = style.new_figure(9.0, 3.4)
        for place, (name, schedule, run) in enumerate(runs):
            axes = figure.add_axes((0.08, 0.56 - 0.42 * place, 0.9, 0.32))
            style.plain(axes)
            slots = max(1, round(SLOTS * run.seconds / longest))
            image = axes.imshow(
                messages_at_once(run, schedule, network, between, slots), aspect="auto", cmap="YlOrRd",
                norm=BoundaryNorm([0, 0.05, 1.5, 2.5, 4.5, 8.5, 16], 256), interpolation="nearest",
                extent=(0, run.seconds, len(between) - 0.5, -0.5),
            )  # fmt: skip
            axes.set_xlim(0, longest)
            axes.set_yticks(np.arange(len(between)), names, fontsize=7)
            axes.set_title(f"{name}: {run.seconds:.1f} s", loc="left", fontsize=10)
            if place == 0:
                axes.set_xticklabels([])
            else:
                axes.set_xlabel("seconds")
                bar = figure.colorbar(
                    image, ax=axes, cax=figure.add_axes((0.55, 0.33, 0.3, 0.04)), orientation="horizontal"
                )
                bar.set_ticks(
                    [0.025, 0.775, 2, 3.5, 6.5, 12.25],
                    labels=["0", "1", "2", "3–4", "5–8", "9–16"],
                    fontsize=7,
                )
                bar.set_label("messages at once on the link", fontsize=8)
        style.save(figure, path)
    print(path, *(f"{name}: {run.seconds:.2f} s" for name, _, run in runs), sep="\n")


if __name__ == "__main__":
    main()
