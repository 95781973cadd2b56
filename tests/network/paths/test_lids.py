"""Lids among which messages choose their routes, on InfiniBand with lmc > 0."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hocket import _core
from hocket.errors import NetworkError, UsageError
from hocket.network import Defaults, KnownNetwork, read_known_network
from hocket.network.lids import choose_lids

RECORDED = Path(__file__).parents[1] / "recorded"
LEAVES = HOSTS = SPINES = 4
LIDS = 4  # lmc 2


def fabric() -> str:
    """Leaves and spines as ibnetdiscover prints them."""
    lines = ["# Topology file: generated on Fri Nov 27 20:00:00 2026", ""]
    for leaf in range(LEAVES):
        lines += [f"switchguid=0x{0x200 + leaf:x}({0x200 + leaf:x})",
                  f'Switch\t36 "S-{0x200 + leaf:016x}"\t\t# "leaf{leaf}" base port 0 lid {leaf + 1} lmc 0']  # fmt: skip
        for index in range(HOSTS):
            host = leaf * HOSTS + index
            lines.append(f'[{index + 1}]\t"H-{0x1000 + host:016x}"[1]({0x2000 + host:x}) \t\t# "h{host} HCA-1" '
                         f"lid {base(host)} 4xHDR")  # fmt: skip
        for spine in range(SPINES):
            lines.append(f'[{HOSTS + spine + 1}]\t"S-{0x300 + spine:016x}"[{leaf + 1}]\t\t# "spine{spine}" '
                         f"lid {LEAVES + spine + 1} 4xHDR")  # fmt: skip
        lines.append("")
    for spine in range(SPINES):
        lines += [f"switchguid=0x{0x300 + spine:x}({0x300 + spine:x})",
                  f'Switch\t36 "S-{0x300 + spine:016x}"\t\t# "spine{spine}" base port 0 '
                  f"lid {LEAVES + spine + 1} lmc 0"]  # fmt: skip
        for leaf in range(LEAVES):
            lines.append(f'[{leaf + 1}]\t"S-{0x200 + leaf:016x}"[{HOSTS + spine + 1}]\t\t# "leaf{leaf}" '
                         f"lid {leaf + 1} 4xHDR")  # fmt: skip
        lines.append("")
    for host in range(LEAVES * HOSTS):
        leaf = host // HOSTS
        lines += [f"caguid=0x{0x1000 + host:x}", f'Ca\t1 "H-{0x1000 + host:016x}"\t\t# "h{host} HCA-1"',
                  f'[1]({0x2000 + host:x}) \t"S-{0x200 + leaf:016x}"[{host % HOSTS + 1}]\t\t# lid {base(host)} lmc 2 '
                  f'"leaf{leaf}" lid {leaf + 1} 4xHDR', ""]  # fmt: skip
    return "\n".join(lines)


def base(host: int) -> int:
    return 64 + host * LIDS


def tables(skip: int = -1) -> str:
    """Tables as dump_fts prints them: base lids all by the first spine, the k-th further one by the k-th.
    ``skip``: a lid that no spine knows."""
    text = []
    for number in range(LEAVES + SPINES):
        leaf = number if number < LEAVES else None
        switch, name = (0x200 + number, f"leaf{number}") if leaf is not None else (
            0x300 + number - LEAVES, f"spine{number - LEAVES}")  # fmt: skip
        entries = []
        for host in range(LEAVES * HOSTS):
            for k in range(LIDS):
                lid = base(host) + k
                out = host // HOSTS + 1
                if leaf is not None:
                    out = host % HOSTS + 1 if host // HOSTS == leaf else HOSTS + k + 1
                elif lid == skip:
                    out = 255
                guid = f"portguid 0x{0x2000 + host:016x}"
                told = (
                    f"path #{k + 1} out of {LIDS}: {guid}"
                    if k
                    else f"Channel Adapter {guid}: 'h{host} HCA-1'"
                )
                entries.append(f"0x{lid:04x} {out:03d} : ({told})")
        head = f"Unicast lids [0x0-0x80] of switch DR path slid 0; dlid 0; 0,1 guid 0x{switch:016x} ({name}):"
        text += [head, "  Lid  Out   Destination", "       Port     Info ", *entries]
        text += [f"{len(entries)} valid lids dumped "]
    return "\n".join(text) + "\n"


def read(folder: Path, skip: int = -1) -> KnownNetwork:
    (folder / "disc.txt").write_text(fabric())
    (folder / "fts.txt").write_text(tables(skip))
    return read_known_network(str(folder / "disc.txt"), Defaults(forwarding=str(folder / "fts.txt")))


def phases(network: _core.Network) -> int:
    return int(_core.lower_bounds(network, _core.Demand(network.ranks, 1)).phases)


def test_lids_share_the_load(tmp_path: Path) -> None:
    known = read(tmp_path)
    assert any("several lids" in note for note in known.description.notes)
    assert known.description.forwarding is not None
    chosen = choose_lids(known.network, known.description.forwarding)
    assert chosen.choices == len(chosen.lids) - LEAVES * HOSTS * (HOSTS - 1)  # pairs under one leaf have none
    assert phases(known.network) == HOSTS * HOSTS * (LEAVES - 1)  # all by one spine
    assert phases(chosen.network) == LEAVES * HOSTS - 1
    names, nodes = (
        chosen.network.names,
        [chosen.network.host_of(rank) for rank in range(chosen.network.ranks)],
    )
    for (src, dst), lid in chosen.lids.items():
        route = chosen.network.route(nodes.index(src), nodes.index(dst))
        passed = [chosen.network.channel_name(channel) for channel in route]
        spine = next(
            (f"spine{s}" for s in range(SPINES) if any(f"spine{s}" in name for name in passed)), None
        )
        assert (spine is None) == (len(route) == 2)
        assert spine in (None, f"spine{lid}"), (names[src], names[dst])


def test_lids_that_do_not_arrive_are_left_out(tmp_path: Path) -> None:
    known = read(tmp_path, skip=base(5) + 2)
    assert known.description.forwarding is not None
    chosen = choose_lids(known.network, known.description.forwarding)
    host = known.network.names.index("h5")
    assert all(lid != 2 for (_, dst), lid in chosen.lids.items() if dst == host)
    assert {lid for (_, dst), lid in chosen.lids.items() if dst == host} == {0, 1, 3}


def test_recorded_tables(tmp_path: Path) -> None:
    known = read_known_network(
        str(RECORDED / "lmc-disc.txt"), Defaults(forwarding=str(RECORDED / "lmc-fts.txt"))
    )
    assert known.description.forwarding is not None
    chosen = choose_lids(known.network, known.description.forwarding)
    assert chosen.choices == 8  # two cables between two hosts on either side
    assert phases(chosen.network) <= phases(known.network)


def test_plans_on_chosen_lids_are_proven(tmp_path: Path) -> None:
    read(tmp_path)
    hocket = [sys.executable, "-m", "hocket"]

    def told(*words: str) -> dict[str, Any]:
        done = subprocess.run([*hocket, *words], cwd=tmp_path, check=True, capture_output=True, text=True)
        return dict(json.loads(done.stdout))

    routed = ("--network", "disc.txt", "--forwarding", "fts.txt")
    base = told("plan", "all-to-all", *routed, "--json")
    chosen = told("plan", "all-to-all", *routed, "--lids", "chosen", "-o", "plan.hkt", "--json")
    assert (base["bound_phases"], chosen["bound_phases"]) == (48, 15)
    assert told("verify", "plan.hkt", *routed, "--lids", "chosen", "--json")["ok"]
    wrong = subprocess.run(
        [*hocket, "verify", "plan.hkt", *routed], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 1  # not on these routes


def test_lids_that_cannot_be_chosen(tmp_path: Path) -> None:
    read(tmp_path)
    with pytest.raises(UsageError, match="forwarding"):
        read_known_network(str(tmp_path / "disc.txt"), Defaults(lids="chosen"))
    examples = Path(__file__).parents[3] / "examples/networks"
    with pytest.raises(NetworkError, match="no port has several lids"):
        read_known_network(
            str(examples / "infiniband-disc.txt"),
            Defaults(forwarding=str(examples / "infiniband-fts.txt"), lids="chosen"),
        )
