"""Section 7 of the NICE paper in simulation: which scheme costs more, to plan and to run.

    S(AC) <= S(LP) <= S(RS_N) <= S(RS_NL) <= S(RS_NHs)
    C(RS_NHs) <= C(RS_NL) <= C(RS_N) <= C(LP) <= C(AC)

"In general", the paper says: the second holds here for messages of different sizes, of medium density and of
two kilobytes or more. Where few messages are sent, or small ones, AC is faster than LP, and the fastest of
all; where everyone sends to nearly everyone, LP is. Costs are means over matrices of test set 1; nothing is
timed.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "papers" / "nice"))
from curves import MACHINES, machine
from permutations import costs, summary
from regions import operations, route_length
from testsets import demand, random_matrix

from hocket import _core
from machines import SCHEMES, Machine, cm5, in_order, ipsc, loosely_synchronous

SEEDS = range(1, 6)


def mean_costs(
    on: Machine, model: str, density: int, unit: int, sizes: str = "non-uniform"
) -> dict[str, float]:
    times: dict[str, list[float]] = {scheme: [] for scheme in SCHEMES}
    for seed in SEEDS:
        exchange = demand(random_matrix(on.ranks, density, sizes, seed, unit))
        for scheme in SCHEMES:
            times[scheme].append(on.seconds(model, on.plan(exchange, scheme, seed), scheme))
    return {scheme: fmean(values) for scheme, values in times.items()}


@pytest.mark.parametrize(("density", "unit"), [(16, 2048), (16, 8192), (24, 2048), (24, 8192)])
def test_the_papers_order_on_the_fat_tree(density: int, unit: int) -> None:
    cost = mean_costs(cm5(), "flows", density, unit)
    assert cost["RS_NH"] < cost["RS_NL"]
    # The tree has room for nearly every permutation: looking at links changes next to nothing.
    assert cost["RS_NL"] < 1.01 * cost["RS_N"]
    assert cost["RS_N"] < cost["LP"] < cost["AC"]


def test_the_papers_order_on_the_circuit_switched_hypercube() -> None:
    cost = mean_costs(ipsc(), "circuits", 16, 2048)
    assert cost["RS_NLH"] < cost["RS_NL"] < cost["RS_N"] < cost["LP"] < cost["AC"]
    # With more messages per rank LP comes close to RS_N.
    cost = mean_costs(ipsc(), "circuits", 24, 2048)
    assert cost["RS_NLH"] < cost["RS_NL"] < min(cost["RS_N"], cost["LP"])
    assert cost["RS_N"] == pytest.approx(cost["LP"], rel=0.05)
    assert max(cost["RS_N"], cost["LP"]) < cost["AC"]


def test_the_papers_order_on_the_hypercube_by_flows() -> None:
    # Links shared fairly by nodes at half speed: contention that circuits suffer from is not seen.
    cost = mean_costs(ipsc(), "flows", 16, 8192)
    assert cost["RS_NLH"] < min(cost["RS_N"], cost["RS_NL"])
    assert max(cost["RS_N"], cost["RS_NL"]) < cost["LP"] < cost["AC"]


def test_few_small_messages_want_no_schedule() -> None:
    for tested in (cm5(), ipsc()):
        cost = mean_costs(tested, "flows", 4, 32)
        assert min(cost, key=lambda scheme: cost[scheme]) == "AC"
    cost = mean_costs(cm5(), "flows", 8, 8192)
    assert cost["AC"] < cost["LP"], "31 phases for 8 messages"


def test_exchanges_by_pairs_win_at_high_density() -> None:
    cost = mean_costs(ipsc(), "flows", 56, 1024)
    assert min(cost, key=lambda scheme: cost[scheme]) == "LP"


def test_splitting_gains_nothing_where_sizes_are_equal() -> None:
    cost = mean_costs(cm5(), "flows", 16, 8192, "uniform")
    assert cost["RS_NH"] == pytest.approx(cost["RS_N"])


@pytest.mark.parametrize("name", MACHINES)
def test_the_papers_order_of_scheduling_costs(name: str) -> None:
    ranks = machine(name).ranks
    for density in (4, 16, ranks - 1):
        exchange = demand(random_matrix(ranks, density, "non-uniform", 1, 8192))
        count = {
            scheme: operations(
                scheme, ranks, density, machine(name).plan(exchange, scheme).phases, route_length(name)
            )
            for scheme in SCHEMES
        }
        assert count["AC"] < count["LP"] < count["RS_N"] < count["RS_NL"] < count["RS_NLH"]
        # Which of the two additions to RS_N costs more is open: the paper's order has it for RS_NLH only.
        assert count["RS_N"] < count["RS_NH"] < count["RS_NLH"]


def test_random_permutations_cost_about_the_same_on_the_fat_tree() -> None:
    assert summary(costs(cm5(), 300)["flows"])["near_mean"] > 0.97  # the paper: 99.5 %


def test_fair_sharing_without_queues_hides_what_ac_costs() -> None:
    # Why AC is simulated with messages that leave one by one, in the order of receivers.
    tree = cm5()
    exchange = demand(random_matrix(tree.ranks, 16, "non-uniform", 1, 8192))
    schedule = tree.plan(exchange, "AC")
    rs_n = tree.seconds("flows", tree.plan(exchange, "RS_N"), "RS_N")
    assert tree.asynchronous(schedule).seconds < rs_n < tree.seconds("flows", schedule, "AC")


def test_a_message_waits_for_both_its_ends() -> None:
    rows = [(0, 0, 1), (0, 2, 3), (1, 1, 2), (2, 0, 3), (3, 2, 0)]
    rows = [(phase, src, dst, src, dst, 0, 100) for phase, src, dst in rows]
    schedule = _core.Schedule.from_rows(4, 100, rows)
    waits = loosely_synchronous(schedule)
    # 1 -> 2 after 0 -> 1, which 1 received, and 2 -> 3, which 2 sent; 2 -> 0 after 1 -> 2 and 0 -> 3.
    assert [waits.of(transfer) for transfer in range(5)] == [[], [], [1, 0], [1], [3, 2]]


def test_in_order_keeps_every_message() -> None:
    tree = cm5()
    exchange = demand(random_matrix(tree.ranks, 5, "non-uniform", 1, 64))
    schedule = in_order(tree.plan(exchange, "AC"))
    assert _core.verify(tree.network, exchange, schedule, _core.PortModel.all_port).complete
    assert schedule.phases == 5
    assert all(most == 1 for most in Counter((row[0], row[1]) for row in schedule.rows()).values())


def test_a_processor_is_shared_by_what_it_sends_and_receives() -> None:
    cube = ipsc(8)
    pair = np.zeros((8, 8), dtype=np.int64)
    pair[0, 1] = pair[1, 0] = 100_000
    paired, apart = (
        cube.seconds("flows", cube.plan(demand(pair), scheme), scheme) for scheme in ("LP", "RS_N")
    )
    assert apart - paired == pytest.approx(100_000 * 0.394e-6)
