"""bench/machines: tables are read or refused, costs come from few cells, predictions are as computed by hand."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import hocket
from hocket.errors import UsageError

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
sys.path.insert(0, str(Path(__file__).parents[2] / "bench/machines"))
import described
import fit
import named
import peers
import predict
import run as pages
import standard
import tofu
import trees
from cells import Cell, Job, read_cells

from model import Costs, Habits, Phase, Program, seconds

HEAD = (
    "system,job,nodes,ranks_per_node,collective,mpi,algorithm,buffer_bytes,iterations,median_us,p10_us,p90_us"
)
HOSTS = "system,job,hosts\nleonardo,j,lrdn0001 lrdn0002 lrdn0200 lrdn0400\n"
KEYS = {"cells", "median_error", "p90_error", "best_among_two", "by_algorithm", "not_modelled"}
COSTS = Costs(eager=2e-6, rendezvous=1e-5, rate=1e10, streamed=0.5, combine=3e-10, fresh=1e-9, port=1e-6)
HABITS = Habits(eager_bytes=16384, cache=1e9, cached=1.0, mapped=1e9)


def row(
    system: str, collective: str, algorithm: str, size: int, us: float, nodes: str = "4", job: str = "j"
) -> str:
    return f"{system},{job},{nodes},1,{collective},MPI,{algorithm},{size},10,{us},{us},{us}"


def files(folder: Path, rows: Sequence[str], hosts: str = HOSTS) -> list[str]:
    (folder / "times.csv").write_text("\n".join([HEAD, *rows]) + "\n")
    (folder / "hosts.csv").write_text(hosts)
    return ["--times", str(folder / "times.csv"), "--hosts", str(folder / "hosts.csv")]


def run(
    arguments: Sequence[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["run.py", *arguments])
    code = pages.main()
    out, err = capsys.readouterr()
    return code, out, err


MIXED = [
    row(system, collective, algorithm, size, us, nodes)
    for system, nodes in (("leonardo", "4"), ("elsewhere", "6"), ("fugaku", "2x2x2"))
    for size, us in ((32, 4.0), (65536, 40.0), (1 << 20, 300.0), (1 << 26, 20000.0))
    for collective, algorithm in (
        ("allgather", "ring_ompi"),
        ("allgather", "recursive_doubling_over"),
        ("allgather", "default_ompi"),
        ("allreduce", "rabenseifner_mpich"),
        ("alltoall", "pairwise_mpich"),
        ("bcast", "never_heard_of"),
    )
]


def test_json_has_these_keys_and_is_the_same_each_time(tmp_path, monkeypatch, capsys) -> None:
    arguments = [*files(tmp_path, MIXED), "--json"]
    code, out, err = run(arguments, monkeypatch, capsys)
    told = json.loads(out)
    assert code == 0 and set(told) == KEYS
    assert "elsewhere is not described here: taken as full bisection, costs fitted on" in err
    missing = told["not_modelled"]
    assert {name: entry["cells"] for name, entry in missing.items()} == {
        "allgather/default_ompi": 9,
        "bcast/never_heard_of": 9,
    }
    assert all(entry["reason"] for entry in missing.values())
    fitted_elsewhere = 5
    assert (
        told["cells"] + 18 + fitted_elsewhere == 3 * 3 * 6
    )  # machines, sizes (32 bytes are too few), algorithms
    assert run(arguments, monkeypatch, capsys)[1] == out


def test_errors_are_of_medians_and_text_says_the_targets(tmp_path, monkeypatch, capsys) -> None:
    cell = read_cells(
        *(Path(p) for p in files(tmp_path, [row("leonardo", "allgather", "ring_over", 1 << 20, 1)])[1::2])
    )[0]
    one = predict.Predictor()
    one.learn([cell])
    exact = one(cell)
    assert exact
    arguments = files(tmp_path, [row("leonardo", "allgather", "ring_over", 1 << 20, exact * 1e6 * 1.25)])
    told = json.loads(run([*arguments, "--json"], monkeypatch, capsys)[1])
    assert (told["cells"], told["median_error"], told["best_among_two"]) == (1, pytest.approx(0.2), None)
    code, _, _ = run([*arguments, "--output", str(tmp_path / "page.csv")], monkeypatch, capsys)
    text = (tmp_path / "page.md").read_text()
    assert code == 0 and "Targets: median ≤ 15 %, 90 % of cells within 35 %" in text
    assert "| allgather ring_over | 1 | 20.0% | 20% |" in text


GOOD = row("leonardo", "allgather", "ring_ompi", 65536, 10)


@pytest.mark.parametrize(
    "times, hosts, told",
    [
        ("", HOSTS, "no column system"),
        ("a,b\n1,2\n", HOSTS, "times.csv:1: no column system"),
        (f"{HEAD}\n{GOOD},7\n", HOSTS, "times.csv:2: 13 cells in 12 columns"),
        (f"{HEAD}\n{GOOD.replace('65536', '-1')}\n", HOSTS, "times.csv:2: buffer_bytes is '-1'"),
        (f"{HEAD}\n{GOOD.replace(',4,1,', ',4x,1,')}\n", HOSTS, "times.csv:2: nodes is ''"),
        (f"{HEAD}\n{GOOD.replace(',4,1,', ',99999x99999,1,')}\n", HOSTS, "more than 131,072 ranks"),
        (f"{HEAD}\n{GOOD.replace(',4,1,', ',4,zero,')}\n", HOSTS, "ranks_per_node is 'zero'"),
        (f"{HEAD}\n{GOOD.replace('10,10,10,10', '10,nan,10,10')}\n", HOSTS, "median_us is 'nan'"),
        (f"{HEAD}\n{GOOD.replace('10,10,10,10', '10,soon,10,10')}\n", HOSTS, "median_us is 'soon'"),
        (f"{HEAD.replace('mpi', 'job')}\n{GOOD}\n", HOSTS, "two columns have one name"),
        (f"{HEAD}\n\0\n", HOSTS, "times.csv:2: holds a NUL byte"),
        (f"{HEAD}\n{GOOD}\n", "system,job\n", "hosts.csv:1: no column hosts"),
        (f"{HEAD}\n{GOOD}\n", f"{HOSTS}leonardo,j,a\n", "hosts.csv:3: job j of leonardo stands here twice"),
    ],
)
def test_what_is_wrong_in_a_table_is_told_with_its_line(
    times, hosts, told, tmp_path, monkeypatch, capsys
) -> None:
    arguments = files(tmp_path, [], hosts)
    Path(arguments[1]).write_text(times)
    code, out, err = run(arguments, monkeypatch, capsys)
    assert (code, out) == (2, "") and told in err and "; " in err and err.count("\n") == 1


@pytest.mark.parametrize("missing", ["--times", "--hosts"])
def test_a_file_that_is_not_there(missing, tmp_path, monkeypatch, capsys) -> None:
    arguments = files(tmp_path, [GOOD])
    arguments[arguments.index(missing) + 1] = str(tmp_path / "none.csv")
    code, _, err = run(arguments, monkeypatch, capsys)
    assert code == 2 and "none.csv: no such file" in err


def test_hosts_are_those_of_the_allocation_of_as_many_ranks(tmp_path) -> None:
    hosts = "system,job,hosts\nleonardo,j:alloc_4.csv,a a b b\nleonardo,j,a b c\n"
    arguments = files(tmp_path, [GOOD.replace(",4,1,", ",2,2,"), GOOD.replace(",4,1,", ",3,1,"), GOOD], hosts)
    found = [cell.job.hosts for cell in read_cells(Path(arguments[1]), Path(arguments[3]))]
    assert found == [("a", "b"), ("a", "b", "c"), ()]


def test_ranks_of_a_node_are_those_of_the_line_where_the_table_has_one_number(tmp_path) -> None:
    hosts = "system,job,hosts\nleonardo,j,a a b b\nleonardo,k,a a b b\n"
    rows = [
        GOOD.replace(",4,1,", ",2,1,"),
        GOOD.replace(",j,4,1,", ",k,2,1,"),
        GOOD.replace(",j,4,1,", ",k,2,2,"),
    ]
    arguments = files(tmp_path, rows, hosts)
    found = [cell.job.ranks_per_node for cell in read_cells(Path(arguments[1]), Path(arguments[3]))]
    assert found == [2, 1, 2]


def test_frozen_costs_come_from_six_cells_at_most() -> None:
    known = described.frozen()
    assert set(known) == set(described.DESCRIBED) == set(fit.CELLS)
    for name, (costs, keys) in known.items():
        assert 0 < len(keys) == len(set(keys)) == len(fit.CELLS[name]) <= fit.MOST_CELLS == 6
        assert costs.rate <= described.DESCRIBED[name].interface and 0 < costs.streamed <= 1
        assert len(described.DESCRIBED[name].fitted) <= len(keys)


def cells_of(job: Job, costs: Costs) -> list[Cell]:
    machine = described.machine_of(job.system)
    made = []
    for name, size in itertools.product(
        ("ring_ompi", "recursive_doubling_ompi"), (1 << 16, 1 << 20, 1 << 27)
    ):
        program = named.program("allgather", name, job.shape, job.ranks, size)
        assert program
        made.append(
            Cell(
                job,
                "allgather",
                name,
                size,
                seconds(program, size, machine.fabric(job), costs, machine.habits),
            )
        )
    return made


def test_a_fit_finds_the_costs_that_made_the_times() -> None:
    job = Job("elsewhere", "j", (8,), 1)
    machine = described.machine_of("elsewhere")
    true = Costs(eager=4e-6, rendezvous=2e-5, rate=9e9, streamed=0.6)
    found = fit.fitted(machine, cells_of(job, true), lambda one, job: one.fabric(job))
    for name in ("eager", "rate", "streamed"):
        assert getattr(found, name) == pytest.approx(getattr(true, name), rel=0.15), name
    with pytest.raises(UsageError, match="7 cells to fit on"):
        fit.fitted(machine, [*cells_of(job, true), cells_of(job, true)[0]], lambda one, job: one.fabric(job))


def test_cells_to_fit_on_are_chosen_without_their_times() -> None:
    cells = cells_of(Job("elsewhere", "j", (8,), 1), COSTS)
    chosen = fit.few_cells(cells)
    assert 0 < len(chosen) <= 6
    other = fit.few_cells([cell._replace(seconds=cell.seconds * 3 + 1) for cell in cells])
    assert [cell.key for cell in chosen] == [cell.key for cell in other]
    assert fit.few_cells([]) == []


def test_fitted_cells_are_not_counted_as_blind(tmp_path, monkeypatch, capsys) -> None:
    key = described.frozen()["fugaku"][1][0]
    system, job, nodes, _, collective, algorithm, size = key.split("/")
    rows = [
        row(system, collective, algorithm, int(size), 200, nodes, job),
        row("fugaku", collective, algorithm, 99999, 9, nodes),
    ]
    told = json.loads(run([*files(tmp_path, rows), "--json"], monkeypatch, capsys)[1])
    assert told["cells"] == 1 and not told["not_modelled"]


def test_equal_rows_of_one_job_are_told_apart(tmp_path, monkeypatch, capsys) -> None:
    rows = [
        row("elsewhere", "allgather", "ring_ompi", 65536 << at, us)
        for at in range(3)
        for us in (50 << at, 60 << at)
    ]
    told = json.loads(run([*files(tmp_path, rows), "--json"], monkeypatch, capsys)[1])
    assert told["cells"] == 4  # of six: the smallest and the largest are fitted on


def test_runs_of_the_same_cell_are_compared_both_ways() -> None:
    alike = dict.fromkeys(["system", "nodes", "ranks_per_node", "collective", "algorithm", "bytes"], "same")
    rows = [alike | {"job": str(us), "measured_us": us} for us in (10, 8)] + [
        alike | {"bytes": "other", "measured_us": 1.0}
    ]
    assert pages.measured_again(rows) == (1, pytest.approx([0.25, 0.2]))


def test_programs_for_grids_of_nodes_want_one_rank_a_node() -> None:
    name = "BINE-B_CONT-UTOFU-0-6"
    assert named.program("allreduce", name, (2, 2, 2), 16, 1e6) is None
    assert "several ranks a node" in named.reason("allreduce", name)
    assert named.program("allreduce", name, (1, 1), 2, 1e6) is None


def fugaku(*shape: int) -> described.Fabric:
    return described.DESCRIBED["fugaku"].fabric(Job("fugaku", "j", shape, 1))


def star(hosts: int, ranks: int = 1) -> described.Fabric:
    return described.machine_of("elsewhere").fabric(Job("elsewhere", "j", (hosts,), ranks))


def test_a_ring_takes_what_its_steps_take() -> None:
    block = 1 << 20
    found = seconds(standard.all_gather_ring(4, 4 * block), 4 * block, star(4), COSTS, HABITS)
    copied = COSTS.copy * block
    assert found == pytest.approx(copied + 3 * (COSTS.rendezvous + block / COSTS.rate))


def test_children_at_once_share_the_interface_of_their_parent() -> None:
    """Binomial trees of 8 ranks: 3 + 2 + 1 vectors where a rank sends to all its children at once, 3 one by one."""
    vector = 1 << 30  # streams, but no host sends and receives at once
    once, one_by_one = (
        seconds(maker(8, vector), vector, star(8), COSTS, HABITS)
        for maker in (partial(trees.bcast_at_once, partners=peers.exchange), standard.bcast_binomial)
    )
    assert once == pytest.approx(6 * vector / COSTS.rate, rel=1e-3)
    assert one_by_one == pytest.approx(3 * vector / COSTS.rate, rel=1e-3)
    both_ways = seconds(Program([Phase(*peers.shift(2, 1), vector)]), vector, star(2), COSTS, HABITS)
    assert both_ways == pytest.approx(vector / COSTS.rate / COSTS.streamed, rel=1e-3)


def test_trees_reach_every_rank_once() -> None:
    for maker in (
        partial(trees.bcast_knomial, radix=4),
        trees.bcast_binary,
        partial(trees.bcast_at_once, partners=peers.bine_far_first),
    ):
        for ranks in (16, 64):
            phases = maker(ranks, 8).phases
            assert sorted(np.concatenate([phase.dst for phase in phases])) == list(range(1, ranks))
            reached = {0}
            for phase in phases:
                assert set(phase.src) <= reached
                reached |= set(phase.dst)


def test_ports_and_links_of_a_torus_bound_what_leaves_a_node() -> None:
    fabric = fugaku(4, 4, 4)
    near = [1, 3, 4, 12, 16, 48]  # both ways along three sides of 4
    program = Program([Phase(np.zeros(6, np.int64), np.array(near), 1e7)])
    free = Costs(eager=0.0, rendezvous=0.0, rate=COSTS.rate)
    assert seconds(program, 1e7, fabric, free, HABITS) == pytest.approx(6e7 / free.rate)
    six = Program(program.phases, ports=6)
    assert seconds(six, 1e7, fabric, free, HABITS) == pytest.approx(1e7 / free.rate)
    # Half-way round a ring of 4 that goes up and down again: two hops, of which no two ranks share one.
    half = peers.exchange(64, 1)
    assert fabric.load(*half).channel == pytest.approx(1 / fabric.nominal)
    # A ring of 8 lies in 4 x 2: four messages pass the wires in the middle of a shift by half.
    assert fugaku(8).load(*peers.shift(8, 4)).channel == pytest.approx(2 / fabric.nominal)


def test_ranks_of_one_host_share_its_interface() -> None:
    fabric = star(2, 3)
    assert fabric.load(np.arange(3), np.arange(3) + 3)[1:] == (1, 3, 0, 1, False)
    assert fabric.load(np.array([0, 1]), np.array([1, 2])).inside == 2


@pytest.mark.parametrize("family", ["bine", "recdoub"])
@pytest.mark.parametrize("sides", [(2, 2, 2), (4, 4, 4), (8, 4), (16,)])
def test_partners_are_mutual_and_steps_reach_all(family, sides) -> None:
    for port in range(2 * len(sides)):
        steps = [
            peers.grid_peers(sides, port, step, family) for step in range(len(peers.grid_steps(sides, port)))
        ]
        assert all((partner[partner] == np.arange(len(partner))).all() for partner in steps)
        reached = {0}.union(*(dst.tolist() for _, dst in peers.tree(steps)))
        assert len(reached) == len(steps[0])


@pytest.mark.parametrize(
    "name, ranks",
    [
        *itertools.product(["ring", "bruck", "linear", "neighbor"], [2, 8, 12, 64]),
        *itertools.product(["recursive_doubling", "bine_2_blocks"], [2, 8, 64]),
    ],
)
def test_an_all_gather_brings_each_rank_all_blocks_of_others(name, ranks) -> None:
    program = named.program("allgather", f"{name}_ompi", (ranks,), ranks, 1.0)
    assert program
    got = np.zeros(ranks)
    for phase in program.phases:
        np.add.at(got, phase.dst, phase.bytes * phase.times * phase.weight)
    assert got == pytest.approx((ranks - 1) / ranks)


@pytest.mark.parametrize("algorithm", ["VEC_DOUBLING_CONT_PERMUTE", "VEC_DOUBLING_BLOCKS"])
@pytest.mark.parametrize("family, ports", [("BINE", 1), ("BINE", 6), ("RECDOUB", 3), ("RING", 6)])
def test_ports_together_bring_all_blocks(algorithm, family, ports) -> None:
    name = tofu.named(f"{family}-{algorithm}-UTOFU-0-{ports}")
    assert name
    program = tofu.program("allgather", name, (4, 4, 4), 64e6)
    assert program and program.ports == ports
    got = np.zeros(64)
    for phase in program.phases:
        np.add.at(got, phase.dst, phase.bytes * phase.times)
    assert got == pytest.approx(63e6, rel=1e-5)  # addresses are a few bytes more


@pytest.mark.parametrize(
    "name", ["BINE-L-UTOFU-0-7", "BINE-L-UTOFU-0-0", "BINE-L-UTOFU-0", "default-default", "x", "", "_ompi"]
)
def test_names_without_a_model(name) -> None:
    assert named.program("allreduce", name, (2, 2, 2), 8, 1e6) is None and named.reason("allreduce", name)


def test_every_name_has_a_finite_time_on_odd_shapes() -> None:
    for shape in ((1,), (2,), (3, 5), (6, 1, 2), (7,)):
        ranks = int(np.prod(shape))
        fabric = fugaku(*shape)
        for collective, table in named.STANDARD.items():
            for name in [
                *(f"{one}_ompi" for one in table),
                *(f"default-{one}" for one in named.TOFU.get(collective, {})),
            ]:
                program = named.program(collective, name, shape, ranks, 40000)
                if program is not None:
                    assert 0 <= seconds(program, 40000, fabric, COSTS, HABITS) < 1, (shape, collective, name)


@pytest.mark.parametrize(
    "script, arguments, hosts, routes",
    [
        ("fugaku.py", ["4x4x4"], 64, {1, 2, 3, 4, 5, 6}),
        ("fugaku.py", ["8"], 8, {1, 2, 3, 4}),
        ("leonardo.py", ["lrdn0001", "lrdn0002", "lrdn0100", "lrdn0500"], 4, {2, 4, 6}),
    ],
)
def test_machines_are_networks_that_hocket_reads(script, arguments, hosts, routes, tmp_path) -> None:
    path = Path(__file__).parents[2] / "examples/machines" / script
    made = subprocess.run([sys.executable, path, *arguments], capture_output=True, text=True, check=True)
    (tmp_path / "job.toml").write_text(made.stdout)
    network = hocket.Network(tmp_path / "job.toml")
    assert len(network.hosts) == hosts
    lengths = {len(network.route(a, b)) for a, b in itertools.permutations(range(hosts), 2)}
    assert lengths == routes


def test_schedules_of_ours_are_no_faster_than_links() -> None:
    fabric = fugaku(2, 2, 2)
    job = Job("fugaku", "j", (2, 2, 2), 1)
    free = Costs(eager=1e-12, rendezvous=1e-12, rate=6.8e9, combine=1e-15)
    size = 8 << 20
    made = pages.schedule_seconds(job, "allgather", size, fabric, free, HABITS)
    assert made is not None and made[1] >= size * 7 / 8 / (3 * 6.8e9)
    assert pages.schedule_seconds(job, "gather", size, fabric, free, HABITS) is None
