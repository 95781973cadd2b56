"""Results of measurements, in words, as a tree and as a network file; and where it is kept."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from hocket import _core
from hocket.cli._shared import measured as measured_networks
from hocket.cli._shared.measured import answer, keep, kept_or_measured, write_network
from hocket.errors import NetworkError
from hocket.measure.discovered import Bottleneck, Found, kept_for, rate_of
from hocket.network import read_network

HOST = 6e6  # bytes/s


def found(hosts: int = 8, bottlenecks: tuple[Bottleneck, ...] = (), **changes: object) -> Found:
    names = [f"n{host}" for host in range(hosts)]
    usual = Found(
        "2026-11-28", "MPICH Version: 5.0.1", names, [1] * hosts, [HOST] * hosts, [HOST] * hosts, list(bottlenecks),
        [0.02, 0.05], 0.04, 0.03, 90, 2e8, 30.0,
    )  # fmt: skip
    return replace(usual, **changes)


FOUR = Bottleneck([4, 5, 6, 7], HOST, HOST)
TWO = Bottleneck([6, 7], HOST / 2, math.inf)


def test_bottlenecks_in_words_and_as_a_tree() -> None:
    told = " ".join(found(8, (FOUR, TWO)).sentences())
    assert "8 hosts with 2 bottlenecks of 24 Mbit/s to 48 Mbit/s (behind them 2 to 4 hosts, 4:1)." in told
    assert "Links of hosts: 48 Mbit/s." in told
    assert "24 Mbit/s is the rate out of n6, n7 alone" in told
    assert "off by 4 %, at most 5 %" in told and "slow" not in told and "other traffic" not in told
    assert found(8, (FOUR, TWO)).picture() == [
        "[switch0]  n0, n1, n2, n3",
        "   -- 48 Mbit/s (4:1) -- [switch1]  n4, n5",
        "      -- 24 Mbit/s (4:1) -- [switch2]  n6, n7",
    ]


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        (found(8), "Full bisection as far as 8 hosts can load it: no link between switches is in the way."),
        (found(2), "2 hosts: of fewer than 4 none can share a bottleneck but a host's link."),
        (found(1), "One host, n0: there is no network to measure between its ranks."),
        (found(8, out=[HOST] * 7 + [HOST / 10]), "n7 is slow: 4.8 Mbit/s, 0.1 of the others."),
        (found(8, by_repeat=0.3), "other traffic is on the network"),
        (
            found(4, ranks=[2] * 4),
            "8 ranks were on these hosts, and one of each measured: start one rank a host",
        ),
    ],
)
def test_sentences_of_other_networks(measured: Found, words: str) -> None:
    assert words in " ".join(measured.sentences())


def test_the_file_is_a_network_of_these_hosts(tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    write_network(
        replace(found(8, (FOUR, TWO)), ranks=[2] * 8, hosts=["switch1", *found().hosts[1:]]), str(path)
    )
    assert (
        "# Checked on 2 permutations" in path.read_text() and "# [switch0]  switch1, n1" in path.read_text()
    )
    network = read_network(str(path))
    assert (network.ranks, len(network.hosts)) == (16, 8)
    rates = [network.rate(channel) for channel in network.route(15, 0)]
    assert rates == pytest.approx([HOST, HOST / 2, HOST, HOST])
    assert len(network.route(8, 10)) == 2


@pytest.mark.parametrize(
    ("measured", "words"),
    [(found(8, (FOUR,), by_pairing=0.4), "many paths"), (found(1), "One host, n0: there is no network")],
)
def test_no_tree_no_file(tmp_path: Path, measured: Found, words: str) -> None:
    with pytest.raises(NetworkError, match=words):
        write_network(measured, str(tmp_path / "net.toml"))
    assert not list(tmp_path.iterdir())


def test_other_traffic_is_not_taken_for_many_paths() -> None:
    assert not found(8, (FOUR,), by_pairing=0.4, by_repeat=0.2).many_paths


def test_the_answer_says_what_is_to_be_gained() -> None:
    told = " ".join(answer(found(8, (FOUR,))))
    assert "A scheduled all-to-all of 64 KiB should take 0." in told
    alike = " ".join(answer(found(8)))
    assert "scheduled all-to-all of 64 KiB should take 0." not in alike


def test_json_and_back() -> None:
    measured = found(8, (FOUR, TWO))
    assert Found.from_json(measured.as_json()) == measured


def test_networks_are_kept_by_their_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    measured = found(8, (FOUR,))
    assert kept_for(measured.hosts) is None
    path = keep(measured)
    told = path.with_suffix(".json")
    assert kept_for(measured.hosts[::-1]) == (path, measured)
    assert kept_for([f"{host}.example" for host in measured.hosts[2:5]]) == (path, measured)
    assert kept_for([*measured.hosts, "n8"]) is None
    strange = json.dumps(measured.as_json() | {"out": ["fast"] * 8})
    for damaged in ("[", "{}", "[]", '{"bottlenecks": [1]}', '{"bottlenecks": [], "more": 1}', strange):
        told.write_text(damaged)
        assert kept_for(measured.hosts) is None


@pytest.mark.parametrize(("off", "other"), [(0.05, None), (0.6, None), (0.05, "m0")])
def test_what_is_kept_is_checked_and_rewired_hosts_are_measured_anew(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    off: float,
    other: str | None,
) -> None:
    """Also where a rank is on a host that took no part."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept, anew = found(8, (FOUR,)), found(8, (TWO,))
    path = keep(kept)
    hosts = [other or "n0", *kept.hosts[1:]]
    monkeypatch.setattr(
        measured_networks,
        "measure_network",
        lambda *_, known=None: anew if known is None else replace(known, errors=[off] * 6, hosts=hosts),
    )
    assert kept_or_measured(kept.hosts, 8, None, None) == str(path)
    is_rewired = f"rates are off by {100 * off:.0f} %" in capsys.readouterr().err
    assert is_rewired == (off > 0.3 or other is not None) and kept_for(kept.hosts) == (
        path,
        anew if is_rewired else kept,
    )


def test_what_is_known_between_some_of_the_hosts() -> None:
    measured = found(8, (replace(FOUR, out=HOST / 4), TWO))
    some = measured.among(["n4", "n5.example", "n6", "n0"])
    assert some.hosts == ["n4", "n5.example", "n6", "n0"]
    from_the_other_side = Bottleneck([3], FOUR.into, HOST / 4)
    assert some.bottlenecks == [from_the_other_side, Bottleneck([2], TWO.out, TWO.into)]
    assert measured.among(["n5", "n0"]).bottlenecks == [Bottleneck([0], HOST / 4, FOUR.into)]
    assert measured.among(["n0", "m0"]).out == [HOST, 0.0] and not measured.has(["n0", "m0"])


def test_rates_that_noise_makes_differ_stand_as_one(tmp_path: Path) -> None:
    """Four chained switches of eight hosts, whose rates come out some per cent apart; one host is really slow."""
    rates = [HOST * (1 + 0.01 * (host * 7 % 11)) for host in range(32)]
    links = [
        Bottleneck([*range(8 * at, 8 * to)], HOST * 1.1, HOST * off)
        for at, to, off in [(0, 1, 1.07), (2, 4, 1.09), (3, 4, 1.05)]
    ]

    def network(rates: list[float]) -> _core.Network:
        write_network(found(32, tuple(links), out=rates, into=rates), str(tmp_path / "net.toml"))
        return read_network(str(tmp_path / "net.toml"))

    even, slow = network(rates), network([HOST / 10, *rates[1:]])
    assert len({even.rate(channel) for channel in range(even.channels)}) == 2
    plan = _core.plan(even, _core.Demand(32, 65536))
    assert plan.predicted_seconds <= 1.02 * plan.bound_seconds
    assert min(slow.rate(channel) for channel in range(slow.channels)) == pytest.approx(HOST / 10)


def test_the_rate_of_a_stream() -> None:
    """Messages that come evenly, in bursts between pauses, and hardly at all; the first third of a second warms up."""
    size, seconds, steady = 1000, 1.0, [0.05 * number for number in range(1, 24)]
    assert rate_of(steady, size, seconds) == pytest.approx(20_000)
    assert rate_of([0.0501 * number for number in range(1, 24)], size, seconds) == pytest.approx(
        20_000, rel=0.01
    )
    bursts = [
        0.4,
        0.41,
        0.42,
        0.43,
        0.8,
        0.81,
        0.82,
        0.83,
        1.5,
    ]  # not 7 in the 0.43 s between the first eight
    messages = 8 + 0.17 / 0.67 - 0.35 / 0.4
    assert rate_of(bursts, size, seconds) == pytest.approx(1000 * messages / 0.65)
    assert rate_of([0.1, 0.9], size, seconds) == pytest.approx(1000 * (0.55 / 0.8) / 0.65)
    assert rate_of([], size, seconds) == 0
