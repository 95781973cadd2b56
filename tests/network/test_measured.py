"""Widths of uplinks that a run has measured: taken where nothing else is known, and never trusted."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.errors import PlanError
from hocket.network import Defaults, KnownNetwork, read_known_network, read_network_description
from hocket.network.description import NetworkDescription
from hocket.network.measured import kept_path, settle, wiring_digest
from hocket.network.parts import Link
from hocket.planning.network_check import check_same_network

TREE = "SwitchName=l0 Nodes=n[0-7]\nSwitchName=l1 Nodes=n[8-15]\nSwitchName=top Switches=l[0-1]\n"
modest = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def switch_link(a: str, b: str = "top", width: Any = 7.7, pairs: Any = 8, **more: Any) -> dict[str, Any]:
    return {"a": a, "b": b, "pairs": pairs, "rate": 1e9, "width": width, **more}


def record(*switch_links: dict[str, Any], **more: Any) -> dict[str, Any]:
    what = {"version": 1, "date": "2026-11-23T04:00:00Z", "mpi": "MPICH 4.2", "host_rate": 125e6}
    return {**what, "switch_links": list(switch_links), **more}


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.source = str(folder / "topology.conf")
        Path(self.source).write_text(TREE)
        self.kept = kept_path(read_network_description(self.source))

    def measured(self, what: object) -> KnownNetwork:
        self.kept.write_text(what if isinstance(what, str) else json.dumps(what))
        self.kept.chmod(0o600)
        return self.read()

    def read(self, **says: Any) -> KnownNetwork:
        return read_known_network(self.source, Defaults(**says))


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Cluster(tmp_path)


def widths(known: KnownNetwork) -> list[float]:
    """Rates of the two uplinks over that of a host's link."""
    links = known.description.links
    return [known.network.rate(2 * i) / 125e6 for i in range(len(links)) if links[i].a == "top"]


def test_names_are_taken_once() -> None:
    """Each reading makes the list anew: else the digest of 16,000 hosts takes a minute."""
    read = []

    class Spec:
        ranks, links = [1, 1, 0], [(0, 2, 1e9, 0.0), (1, 2, 1e9, 0.0)]

        @property
        def names(self) -> list[str]:
            read.append(self)
            return ["a", "b", "s"]

    class Family:
        def make(self) -> Spec:
            return Spec()

    by_hand = NetworkDescription()
    by_hand.add_host("a")
    by_hand.add_host("b")
    by_hand.add_switch("s")
    by_hand.links = [Link(host, "s", 1e9, 0.0) for host in "ab"]
    family = NetworkDescription(wiring=Family())  # type: ignore[arg-type]
    assert wiring_digest(family) == wiring_digest(by_hand)
    assert len(read) == 1


def test_what_was_measured_is_taken_and_said(cluster: Cluster) -> None:
    known = cluster.measured(record(switch_link("l0"), switch_link("top", "l1", 4.1)))
    assert known.uplinks.provenance == "measured"
    assert known.uplinks.text.startswith("uplinks: measured on 2026-11-23 in this cluster: ")
    assert "at least" in known.uplinks.text
    assert widths(known) == [8, 4]
    assert known.network.host_rate == 125e6
    assert known.uplinks.warning == ""


def test_uplinks_that_no_run_has_crossed_stay_assumed(cluster: Cluster) -> None:
    known = cluster.measured(record(switch_link("l0", width=4)))
    assert known.uplinks.provenance == "assumed"
    assert known.uplinks.text.startswith("uplinks: 1 of 2 assumed")
    assert known.uplinks.switch_links == 1
    assert widths(known) == [4, 1]


def test_options_are_more_than_a_measurement(cluster: Cluster) -> None:
    cluster.measured(record(switch_link("l0"), switch_link("l1")))
    known = cluster.read(oversubscription=(4,))
    assert known.uplinks.provenance == "stated"
    assert widths(known) == [2, 2]
    assert widths(cluster.read(rate=125e6, uplink_rate=25e7)) == [2, 2]


def test_rates_that_nobody_states_are_assumed_until_measured(cluster: Cluster) -> None:
    known = cluster.read()
    assert known.host_rates.text == "host rates: assumed 1 Gbit/s (not stated); give --rate"
    assert cluster.read(rate=125e6).host_rates.text == "host rates: 1 Gbit/s, as stated"
    known = cluster.measured(record(switch_link("l0"), switch_link("l1"), host_rate=11.5e9, alpha=3e-6))
    assert known.host_rates.provenance == "measured"
    assert known.host_rates.text == (
        "host rates: measured on 2026-11-23 in this cluster: 92 Gbit/s, 3 us a message"
    )
    assert known.network.host_rate == pytest.approx(11.5e9)
    assert widths(known) == pytest.approx([8 * 92, 8 * 92])  # uplinks are so many hosts wide
    assert known.is_measured


@pytest.mark.parametrize(("stated", "told"), [(99e6, False), (149e6, False), (60e6, True), (300e6, True)])
def test_a_stated_rate_counts_and_is_contradicted(cluster: Cluster, stated: float, told: bool) -> None:
    cluster.measured(record(switch_link("l0"), switch_link("l1"), host_rate=100e6))
    known = cluster.read(rate=stated)
    assert known.host_rates.provenance == "stated"
    assert known.network.host_rate == pytest.approx(stated)
    assert ("; a job measured 800 Mbit/s on 2026-11-23" in known.host_rates.text) == told


@pytest.mark.parametrize("source", ["star:4", "torus:4x4", "fat-tree:8x8x4", "dragonfly:3x2x2"])
def test_short_forms_state_no_rates(cluster: Cluster, source: str) -> None:
    """Rates are assumed if the core makes the links, if it is a grid without any, and once links were asked
    for."""
    description = read_network_description(source)
    kept = kept_path(description)
    before = read_known_network(source)
    assert before.host_rates.assumed
    kept.write_text(json.dumps(record(host_rate=1e9)))
    kept.chmod(0o600)
    known = read_known_network(source)
    assert known.host_rates.provenance == "measured"
    assert known.network.host_rate == pytest.approx(1e9)
    ratio = [known.network.rate(c) / before.network.rate(c) for c in range(before.network.channels)]
    assert ratio == pytest.approx([8] * len(ratio))
    assert not read_known_network(source, Defaults(rate=1e9)).host_rates.assumed


@pytest.mark.parametrize("wrong", [{"host_rate": 0}, {"host_rate": 1e15}, {"alpha": -1}, {"alpha": 11}])
def test_senseless_rates_are_no_measurement(cluster: Cluster, wrong: dict[str, float]) -> None:
    known = cluster.measured(record(switch_link("l0"), switch_link("l1"), **wrong))
    assert known.host_rates.assumed and known.network.host_rate == 125e6
    assert "remove the file to measure again" in known.warnings[0] and len(known.warnings) == 1


def test_what_a_file_states_is_more_than_a_measurement(cluster: Cluster, tmp_path: Path) -> None:
    cluster.measured(record(switch_link("l0"), switch_link("l1")))
    stated = tmp_path / "stated.toml"
    stated.write_text(
        '[[switch]]\nname="top"\n'
        '[[switch]]\nname="l0"\nhosts="n[0-7]"\nuplink="top"\nrate="2Gbit"\n'
        '[[switch]]\nname="l1"\nhosts="n[8-15]"\nuplink="top"\nrate="2Gbit"\n'
    )
    known = read_known_network(str(stated))
    assert kept_path(known.description) == cluster.kept
    assert known.uplinks.provenance == "stated"
    assert widths(known) == [2, 2]


@pytest.mark.parametrize(
    ("width", "pairs", "value", "at_least"),
    [
        (7.76, 8, 8, True),  # 0.97 of the full bisection
        (8.3, 8, 8, True),  # never above what the pairs could show
        (15.1, 16, 16, True),
        (3.9, 8, 4, False),
        (5.3, 16, 16 / 3, False),
        (7.3, 16, 7, False),
        (0.97, 8, 1, False),
        (0.4, 8, 0.4, False),
        (0.1123, 1, 0.11, False),
        (0.95, 1, 1, True),
    ],
)
def test_noise_is_no_width(width: float, pairs: int, value: float, at_least: bool) -> None:
    found = settle(width, pairs)
    assert (found.value, found.at_least) == (pytest.approx(value), at_least)


@modest
@given(width=st.floats(1e-3, 1e3), pairs=st.integers(1, 500))
def test_a_width_stays_near_what_was_measured(width: float, pairs: int) -> None:
    found = settle(width, pairs)
    assert 0 < found.value <= pairs
    assert found.value == pytest.approx(min(width, pairs), rel=0.0871)
    assert found.value == _core.SwitchLink.settled_width(width, pairs)  # what the ranks took it for


DAMAGED = [
    "", "{", "null", "[]", "7", "[" * 100_000, "\0", '{"version": 1}',
    record(switch_link("l0"), version=2),
    record(switch_link("l0"), version="1"),
    record(switch_link("l0"), date="yesterday"),
    record(switch_link("l0"), date=None),
    record(switch_link("l0"), host_rate=0),
    record(switch_link("l0"), host_rate="fast"),
    record(switch_links={}),
    record(switch_links=[[]]),
    record(switch_link("l0", "nowhere")),
    record(switch_link("l0", "n0")),
    record(switch_link("l0", "l1")),
    record(switch_link("l0"), switch_link("top", "l0")),
    record({"a": "l0", "b": 3}),
    record({"a": ["l0"], "b": "top"}),
    record(switch_link("l0", width=0)),
    record(switch_link("l0", width=-1)),
    record(switch_link("l0", width=float("nan"))),
    record(switch_link("l0", width=float("inf"))),
    record(switch_link("l0", width=True)),
    record(switch_link("l0", width="8")),
    record(switch_link("l0", width=10**400)),
    record(switch_link("l0", pairs=0)),
    record(switch_link("l0", pairs=2.5)),
    record(switch_link("l0", pairs=10**9)),
]  # fmt: skip


@pytest.mark.parametrize("what", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_is_left_alone_with_one_warning(cluster: Cluster, what: object) -> None:
    known = cluster.measured(what)
    assert known.uplinks.provenance == "assumed"
    assert widths(known) == [1, 1]
    assert str(cluster.kept) in known.uplinks.warning
    assert "ignored" in known.uplinks.warning
    assert "\n" not in known.uplinks.warning
    assert len(known.uplinks.warning) < 500


@modest
@given(seed=st.integers(0, 10**6))
def test_random_damage(cluster: Cluster, seed: int) -> None:
    """A network comes of it, whatever the bytes are; what is taken is no wider than the pairs."""
    draw = random.Random(seed)
    data = bytearray(json.dumps(record(switch_link("l0"), switch_link("l1"))).encode())
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(data))
        data[at : at + draw.randint(0, 3)] = draw.choice(
            [b"", b"9", b"e9", b'"', b"}", b"\xff", b"-", b"[[", b"null"]
        )
    cluster.kept.write_bytes(bytes(data))
    known = cluster.read()
    assert known.uplinks.provenance in ("assumed", "measured")
    assert (known.uplinks.warning == "") == (widths(known) != [1, 1])


def test_a_file_that_others_could_have_written_is_left_alone(cluster: Cluster) -> None:
    cluster.measured(record(switch_link("l0"), switch_link("l1")))
    cluster.kept.chmod(0o666)
    known = cluster.read()
    assert known.uplinks.provenance == "assumed"
    assert "can be written by other users" in known.uplinks.warning
    cluster.kept.rename(cluster.kept.with_suffix(".real"))
    cluster.kept.symlink_to(cluster.kept.with_suffix(".real"))
    assert "is a link" in cluster.read().uplinks.warning


def test_no_cache_no_warning(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared))
    assert cluster.read().uplinks.provenance == "assumed"
    assert cluster.read().uplinks.warning == ""


def test_the_wiring_names_the_file(cluster: Cluster, tmp_path: Path) -> None:
    def digest(text: str, **says: Any) -> str:
        path = tmp_path / "other.conf"
        path.write_text(text)
        return wiring_digest(read_network_description(str(path), Defaults(**says)))

    lines = TREE.splitlines(keepends=True)
    assert cluster.kept.name == f"switch_links-{digest(TREE)}.json"
    assert digest("".join(reversed(lines)), rate=1e9, latency=1) == digest(TREE)
    others = [
        TREE.replace("n[0-7]", "n[0-6]"),
        TREE.replace("l[0-1]", "l0") + "SwitchName=x Nodes=y Switches=l1\n",
        TREE.replace("n[8-15]", "m[8-15]"),
    ]
    assert len({digest(TREE), *map(digest, others)}) == 4


def test_a_plan_made_before_the_measurement_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    """It says which uplink differs, and what to do."""
    assumed = cluster.read()
    demand = _core.Demand(16, 1)
    planned = _core.plan_exchange(assumed.network, demand)
    plan = _core.Plan(assumed.network, planned.schedule, planned.waits, demand, "tree", 0, 0.0, 0.0)
    measured = cluster.measured(record(switch_link("l0"), switch_link("l1", width=4)))
    with pytest.raises(PlanError) as refused:
        check_same_network(plan, measured.network, "p.hkt", cluster.source, measured=True)
    assert refused.value.what == (
        "p.hkt: made for other uplinks than a run has measured: top->l0 of 1 Gbit/s, measured 8 Gbit/s"
    )
    assert refused.value.remedy is not None and refused.value.remedy.startswith("plan again with --network")
    anew = _core.Plan(measured.network, planned.schedule, planned.waits, demand, "tree", 0, 0.0, 0.0)
    check_same_network(anew, measured.network, "p.hkt", cluster.source, measured=True)
