"""Each claim of a page that has figures is the sentence that its result file allows: a table of both.

A claim is the text of the page with ``{}`` for the figures, and what computes them from the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from math import isqrt, prod
from pathlib import Path
from statistics import fmean, median

import pytest

from claims import cells_of, prose, rows_of, text_of

ROOT = Path(__file__).parents[2]
Figures = Sequence[object]


def number(cell: str) -> float:
    return float(cell.replace(",", "").rstrip("%"))


def ends(values: Iterable[float], digits: int) -> Figures:
    """The least and the largest, rounded."""
    values = list(values)
    return f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"


def largest_plans() -> Figures:
    """Ranks of the largest whole all-to-all and all-gather, which have to be the same."""
    messages = max(int(number(row[1])) for row in cells_of("planner")[1:])
    pairs = (1 + isqrt(1 + 4 * messages)) // 2
    networks = [row[0] for row in cells_of("planner-allgather") if row[-1] == "yes"]
    assert pairs == max(prod(map(int, re.findall(r"\d+", name))) for name in networks)
    return (f"{pairs:,}",)


def closed_gathers(network: str) -> Figures:
    """The largest network of the kind that has both an all-gather and an all-reduce."""
    rows = [row for row in cells_of("closed-forms") if row[0].startswith(("all-gather", "all-reduce"))]
    like = [row for row in rows if ("fat tree" in row[0]) == (network == "fat tree")]
    sizes = [{row[1] for row in like if row[0].startswith(call)} for call in ("all-gather", "all-reduce")]
    return (max(sizes[0] & sizes[1], key=number),)


def simulated_errors() -> Figures:
    (row,) = (row for row in cells_of("predictions") if row[0] == "smpi")
    return row[1], row[2].rstrip("%"), row[4].rstrip("%")


def recorded_errors() -> Figures:
    """Predicted against median times of candidates in recorded jobs: number, median error, regret."""
    cells: dict[tuple[object, ...], list[tuple[float, float]]] = {}
    for row in rows_of("choice-records"):
        if row["predicted"] is not None and not row["place"].startswith("shared"):
            took = median(map(float, str(row["costs"]).split(";")))
            key = row["place"], row["mpi"], row["collective"], row["bytes"]
            cells.setdefault(key, []).append((row["predicted"], took))
    pairs = [pair for cell in cells.values() for pair in cell]
    error = median(abs(said / took - 1) for said, took in pairs)
    regrets = [min(cell)[1] / min(took for _, took in cell) - 1 for cell in cells.values()]
    return (len(pairs), *(f"{100 * value:.0f}" for value in (error, median(regrets), max(regrets))))


def skewed_schedules() -> Figures:
    """Schedules over the library, by the means of all calls but the first."""
    took = {
        (row["mpi"], row["candidate"]): fmean(list(map(float, str(row["costs"]).split(";")))[1:])
        for row in rows_of("choice-records")
        if row["collective"] == "skewed"
    }
    over = [took[key] / took[key[0], "native"] for key in took if key[1] != "native"]
    return f"{min(over):.1f}", f"{max(over):.1f}"


def wrong_rates() -> Figures:
    rows = cells_of("wrong-rates")[1:]
    took = {(mpi, said): float(seconds) for mpi, said, seconds, _ in rows}
    wrong = [(mpi, took[mpi, said]) for mpi, said in took if said in ("1Mbit", "10Gbit")]
    over = ends((seconds / took[mpi, "50Mbit"] for mpi, seconds in wrong), 2)
    return over + ends((seconds / took[mpi, "without Hocket"] for mpi, seconds in wrong), 2)


def noise() -> Figures:
    """How much longer exchanges take, in per cent, with windows 1 and 8."""
    table = text_of("noise").split("The same over the time without noise")[1]
    rows = [row.split(" | ") for row in re.findall(r"^\| (.* \| 4\.0 \| 10% \| .*) \|$", table, re.MULTILINE)]
    return ends((100 * float(row[3]) for row in rows), 0) + ends((100 * float(row[6]) for row in rows), 0)


def peers() -> Figures:
    ratios = [float(row[7]) for row in cells_of("peers")[1:]]
    return (*ends(ratios, 2), f"{median(ratios):.2f}")


def exchanges_of_real_jobs() -> Figures:
    rows = [row for row in cells_of("real-placements") if row[0].startswith("leaves") and row[1] == "100"]
    (ours,) = {row[2].split()[0] for row in rows}
    return (*ends((float(row[4].split()[0]) for row in rows), 2), ours)


def suites() -> Figures:
    rows = cells_of("suites")[1:]
    assert all(row[7] == "0" for row in rows)  # "no steady verdict differs"
    return sum(int(row[2]) for row in rows), sum(int(row[6]) for row in rows)


def random_programs() -> Figures:
    mpich, openmpi = (
        [row[1], row[2]] for row in cells_of("random-programs") if row[0] in ("mpich", "openmpi")
    )
    differ = {row[0]: row[4] for row in cells_of("random-programs") if row[0] in ("mpich", "openmpi")}
    assert differ == {"mpich": "0", "openmpi": "1"}
    return (*mpich, *openmpi)


def orders() -> Figures:
    rows = cells_of("order-scale")[1:]
    return (f"{max(float(row[3]) for row in rows):.1f}", *ends((float(row[4]) for row in rows), 1))


def outcomes_elsewhere() -> Figures:
    verdicts = [row[-1] for row in cells_of("public-machines")]
    counts = [verdicts.count(verdict) for verdict in ("wins", "open", "loses")]
    return sum(counts), *counts


def overheads(place: str, calls: str, sizes: str, digits: int = 2) -> Figures:
    """The least and the largest ratio of the cells of such places, calls and bytes."""
    rows = [row for row in cells_of("overhead") if len(row) == 11 and re.fullmatch(place, row[0])]
    rows = [row for row in rows if re.fullmatch(calls, row[2])]
    return ends((float(row[6].split()[0]) for row in rows if re.fullmatch(sizes, row[3])), digits)


def on_one_switch() -> Figures:
    rows = [row for row in cells_of("irregular-jobs") if row[0] == "star:16 rate=50Mbit"]
    assert {row[2] for row in rows} == {"alltoall", "equal", "dense", "fresh"}
    assert {row[3] for row in rows} == {"65536"} and {row[1] for row in rows} == {"mpich"}
    return ends((float(row[6].split()[0]) for row in rows), 2)


def switch_of_16() -> Figures:
    (row,) = (row for row in cells_of("lab-one-switch") if row[0] == "star:16" and row[3] == "262144")
    return [f"{float(row[column].split()[0]):.2f}" for column in (5, 4)]


def two_switches_in_order() -> Figures:
    """All-to-alls and all-gathers of MPICH and Open MPI."""
    place = "chain:4,4 rate=50Mbit"
    cells = {
        (row[2], row[1]): row[6].split()[0]
        for row in cells_of("overhead")
        if row[0] == place and len(row) == 11
    }
    return [cells[call, mpi] for call in ("alltoall", "allgather") for mpi in ("mpich", "openmpi")]


def at_random() -> Figures:
    """Calls other than all-to-alls of 32 KiB and more in all places, and all-to-alls, with ranks at random."""
    ratios = [row for row in cells_of("gains-32-hosts") if "shuffle" in row[0]]
    others = [float(row[6]) for row in ratios if row[2] != "alltoall"]
    exchanges = [float(row[6]) for row in ratios if row[2] == "alltoall"]
    small = overheads(".*50Mbit shuffle=1", "allgather|allreduce|bcast|reduce_scatter", "32768|262144")
    others += map(float, small)  # type: ignore[arg-type]
    exchanges += map(float, overheads(".*50Mbit shuffle=1", "alltoall", "32768"))  # type: ignore[arg-type]
    return (*ends(others, 2), *ends(exchanges, 2))


def in_order() -> Figures:
    rows = [row for row in cells_of("gains-32-hosts") if row[0].endswith("50Mbit") and row[4] != "6"]
    return ends(
        (float(row[6].split()[0]) for row in rows if row[2] in ("allgather", "allreduce", "bcast")), 2
    )


def irregular(
    collective: str, size: int, *mpis: str, place: str = "chain:8,8,8,8", shuffle: str = ""
) -> Figures:
    """Ratios of jobs of irregular calls."""
    ratios = {(*row[:4],): row[6].split()[0] for row in cells_of("irregular-jobs")}
    return [ratios[f"{place} rate=50Mbit{shuffle}", mpi, collective, str(size)] for mpi in mpis or ("mpich",)]


def programs(*names: str) -> Figures:
    """Ratios of whole programs."""
    return [program(name)[-1] for name in names]


def program(name: str, order: str = "in order") -> Figures:
    return next(
        (*row[4:6], row[6].split()[0]) for row in cells_of("programs") if [row[0], row[2]] == [name, order]
    )


def of_harnesses() -> Figures:
    """Ratios as the harnesses of others count them: of the means of two, of the slowest ranks of the third."""
    ratios = {row[0].split()[0]: row[4] for row in cells_of("harnesses")[1:] if row[0] != "the same"}
    return ratios["Intel"], ratios["OSU"], ratios["PICO"]


def measured_trees() -> Figures:
    """Trees whose sets are right, with noise and with traffic; fat trees; leaves found of the largest."""
    right = {row[0]: (row[2], row[1]) for row in cells_of("measured-trees-simulated") if len(row) == 7}
    noise, traffic = right["simulated, noise 10 %"], right["simulated, noise 5 %, traffic 20 %"]
    large = [row for row in rows_of("measured-trees-simulated") if row["hosts"] == 4096]
    assert right["simulated, noise 10 %, 4096 hosts"][0] == "1" and right[
        "simulated, noise 10 %, 512 hosts"
    ] == ("3", "3")
    found = [row["found"] for row in large]
    return noise[1], noise[0], traffic[0], min(found), max(found), max(row["bottlenecks"] for row in large)


def packets() -> Figures:
    """Least and most times over the bound, of plans and of native orders."""
    ratios = [(row[3].startswith("Hocket"), row[8]) for row in cells_of("packets")[1:]]
    both = [[ratio for ours, ratio in ratios if ours == of] for of in (True, False)]
    return [end(of, key=number) for of in both for end in (min, max)]


def right_trees(name: str) -> Figures:
    """Trees whose sets are right, and all."""
    (row,) = (row for row in cells_of(name)[1:] if len(row) == 7)
    return row[2], row[1]


def trees_in_the_lab() -> Figures:
    """Trees, those whose sets are right and those whose rates are near, too."""
    rows = [row for row in cells_of("measured-trees")[1:] if len(row) == 7]
    return [sum(int(row[column]) for row in rows) for column in (1, 2, 3)]


def measured_jobs() -> Figures:
    """Jobs by measured files; of these, about as long as by the true files, and about as long as predicted."""
    rows = rows_of("measured-jobs")
    as_true = sum(row["measured_job"] <= 1.05 * row["true_job"] for row in rows)
    gains = [(row["predicted"], row["measured_job"] / row["native_job"]) for row in rows]
    return len(rows), as_true, sum(abs(before / after - 1) <= 0.15 for before, after in gains)


def of_three(place: str, mpi: str, size: int) -> Figures:
    return [irregular(of, size, mpi, place=place)[0] for of in ("equal", "dense", "fresh")]


def paths_of_jobs() -> Figures:
    """Native times of jobs of 24 all-to-alls, over theirs."""
    gains = {row[0]: float(row[6]) for row in cells_of("paths") if row[3] == "24"}
    return f"{gains['mpich']:.1f}", f"{gains['openmpi']:.1f}"


def held_paths() -> Figures:
    """Parts of the native time of the same."""
    gains = {row[0]: float(row[6]) for row in cells_of("paths") if row[3] == "24"}
    return f"{1 / gains['mpich']:.2f}", f"{1 / gains['openmpi']:.2f}"


def ordered(digits: int) -> str:
    """Seconds of the default with ranks in the order of `hocket order`."""
    (text,) = (
        row[7] for row in cells_of("best-native") if len(row) == 11 and row[7].startswith("default, ordered")
    )
    return f"{float(text.split()[-1]):.{digits}f}"


def of_the_random_cell() -> Figures:
    row = next(row for row in cells_of("best-native") if len(row) == 11 and "shuffle" in row[0])
    return row[5], ordered(1), f"{float(row[8]):.1f}"


def released(system: str) -> Figures:
    """Cells, median error and share of the best among two, of the cells that came later."""
    (row,) = (row for row in cells_of("public-machines-2") if row[0] == system and len(row) == 6)
    return row[1], row[2].rstrip("%"), row[5].split("%")[0]


CLAIMS: list[tuple[str, str, Callable[[], Figures]]] = [
    ("evidence", "a network file | {} hosts",
     lambda: re.findall(r"of files with ([\d,]+) hosts", text_of("large-files"))),
    ("evidence", "a whole plan of an all-to-all or all-gather | {} ranks", largest_plans),
    ("evidence", "an all-gather or all-reduce on trees | {} hosts", lambda: closed_gathers("tree")),
    ("evidence", "every edge of the ring | | the same on full fat trees | {} hosts",
     lambda: closed_gathers("fat tree")),
    ("evidence", "irregular phases that ranks agree on | {} ranks",
     lambda: (max((row[0] for row in cells_of("proposals")[1:]), key=number),)),
    ("evidence", "trees with unequal links | {} hosts",
     lambda: (max(int(row[0].split("-")[-1]) for row in cells_of("unequal-trees")[1:]),)),
    ("evidence", "SimGrid SMPI, {} predictions | error {} % in the median and {} % at most", simulated_errors),
    ("evidence", "emulated cluster, {} predictions | error {} % in the median. The candidate predicted fastest takes "
     "{} % longer than the fastest one in the median, and {} % at most", recorded_errors),
    ("evidence", "each schedule takes {} to {} times as long as the library", skewed_schedules),
    ("evidence", "a job with the wrong rate takes {} to {} times as long as with the right one, and {} to {} of the "
     "native time", wrong_rates),
    ("evidence", "The exchange then takes {} to {} % longer with window 1, and {} to {} % longer with window 8", noise),
    ("evidence", "have published {} times", lambda: (len(cells_of("peers")) - 1,)),
    ("evidence", "Plans take {} to {} times as long, {} times in the median", peers),
    ("evidence", "All-to-alls by a ring take {} to {} times the bound there in the median, and Hocket's {} times",
     exchanges_of_real_jobs),
    ("evidence", "then looked at | {} | 29 %, now {} % | 79 %, now {} %", lambda: released("all")),
    ("evidence", "of these, Fugaku | no | {} | 17 %, now {} % | 77 %, now {} %", lambda: released("fugaku")),
    ("evidence", "of these, Leonardo | no | {} | 57 %, now {} % | 80 %, now {} %", lambda: released("leonardo")),
    ("evidence", "all | {} cells of 1 MiB and more | {} win, {} are open, {} lose", outcomes_elsewhere),
    ("index", "{} to {}; all-to-alls {} to {}. Another order", at_random),
    ("index", "all-gathers, reductions, broadcasts | {} to {}.", in_order),
    ("index", "all-to-alls of 1 to 8 KiB | {} to {}, by one", lambda: overheads(".*cyclic", "alltoall", "1024|8192")),
    ("index", "all-to-alls of 256 KiB | {} with MPICH, {} with Open MPI, once", held_paths),
    ("index", "ring takes {} to {} times the bound, Hocket {}", exchanges_of_real_jobs),
    ("index", "all-to-alls of 4 KiB | a loss: {} to {}", lambda: overheads(".*50Mbit shuffle=1", "alltoall", "4096")),
    ("index", "All-to-alls lose: {} and {}. The", lambda: overheads(".*1Gbit shuffle=1", "alltoall", "32768")),
    ("index", "| 32 KiB | all-gathers {1} and {0}.", lambda: overheads(".*1Gbit shuffle=1", "allgather", "32768")),
    ("evidence", "all-to-alls of 256 KiB take {} times the bound: packets are dropped in front of receivers. Schedules "
     "alone take {} times", switch_of_16),
    ("index", "of equal or changing sizes | {} to {} with MPICH", on_one_switch),
    ("index", "all-to-alls of 32 KiB; all-gathers | {} and {}; {} and {}", two_switches_in_order),
    ("index", "8 bytes | {} to {}, mostly chance", lambda: overheads("chain.*", ".*", "8")),
    ("index", "8 bytes to 64 KiB | a loss: {} to {}", lambda: overheads("shared.*", ".*", ".*")),
    ("../README", "run {} times as fast as with MPICH, {} times as with", paths_of_jobs),
    ("../README", "Alltoallv, 16 KiB, new sizes every call | {}/{} |",
     lambda: irregular("fresh", 16384, "mpich", "openmpi")),
    ("../README", "Alltoallv, 16 KiB, new sizes every call | 0.80/0.77 | | {}/{} |",
     lambda: irregular("fresh", 16384, "mpich", "openmpi", shuffle=" shuffle=1")),
    ("../README", "IS {}, solver {}, sort {}, FFT {}, Quantum ESPRESSO {}, LAMMPS {}",
     lambda: programs("integers", "gradients", "sort", "pencils", "silicon", "salt")),
    ("evidence", "a sparse matrix without a pattern | MPICH | {} | {} | {} |", lambda: program("gradients")),
    ("evidence", "sample sort, 15 times | MPICH | {} | {} | {} |", lambda: program("sort")),
    ("evidence", "at random: the matrix | MPICH | {} | {} | {} |", lambda: program("gradients", "at random")),
    ("evidence", "| the sort | MPICH | {} | {} | {} |", lambda: program("sort", "at random")),
    ("evidence", "NASA's IS, class A | MPICH | {} | {} | {} |", lambda: program("integers")),
    ("evidence", "the same, ranks at random | MPICH | {} | {} | {} |", lambda: program("integers", "at random")),
    ("evidence", "pencils of 128³ | MPICH | {} | {} | {} |", lambda: program("pencils")),
    ("evidence", "takes {} times as long by Intel's MPI Benchmarks, {} by OSU's, and {} by PICO", of_harnesses),
    ("evidence", "8 atoms of silicon | Open MPI 4.1 | {} | {} | {} |", lambda: program("silicon")),
    ("evidence", "the same, ranks at random | Open MPI 4.1 | {} | {} | {} |", lambda: program("silicon", "at random")),
    ("evidence", "ions with PPPM | Open MPI 4.1 | {} | {} | {} |", lambda: program("salt")),
    ("networks", "{} random trees in the lab, with both MPIs: {} have the right sets, {} of them rates within 10 %",
     trees_in_the_lab),
    ("evidence", "switches that trim packets (NDP), 10 Gbit/s | a loss: {} to {} times the bound, natively {} to {}",
     packets),
    ("networks", "With four ranks on each host {} of {} trees are right", lambda: right_trees("measured-trees-ranks")),
    ("networks", "with a host at a tenth of the rate {} of {}, and it is named",
     lambda: right_trees("measured-trees-slow")),
    ("networks", "Of {} jobs by measured files {} take at most 1.05 times as long as by the true ones, and {} take "
     "within 15 % of what was predicted", measured_jobs),
    ("networks", "On {} simulated ones 38 are right", lambda: measured_trees()[:1]),
    ("networks", "{} are right with 10 % of noise, and {} beside others", lambda: measured_trees()[1:3]),
    ("networks", "{} to {} of {} leaves are found", lambda: measured_trees()[3:]),
    ("evidence", "| uneven | 16384 | 24 | {} | {}", lambda: irregular("dense", 16384, "mpich", "openmpi")),
    ("evidence", "| new sizes | 16384 | 24 | {} | {}", lambda: irregular("fresh", 16384, "mpich", "openmpi")),
    ("evidence", "| the same, ranks at random | 16384 | 24 | {} | {} |",
     lambda: irregular("fresh", 16384, "mpich", "openmpi", shuffle=" shuffle=1")),
    ("evidence", "| uneven | 65536 | 10 | {} |", lambda: irregular("dense", 65536)),
    ("evidence", "| new sizes | 65536 | 10 | {} |", lambda: irregular("fresh", 65536)),
    ("evidence", "| one pair in four | 131072 | 10 | {} |", lambda: irregular("sparse", 131072)),
    ("evidence", "four columns of ranks at once | 65536 | 24 | {} |", lambda: irregular("columns", 65536)),
    ("evidence", "rows, then columns, in turn | 65536 | 24 | {} |", lambda: irregular("pencil", 65536)),
    ("evidence", "16 hosts | equal; uneven; new sizes | 65536 | 24 | {}; {}; {} |",
     lambda: of_three("star:16", "mpich", 65536)),
    ("evidence", "8 hosts | equal; uneven; new sizes | 32768 | 24 | – | {}; {}; {} |",
     lambda: of_three("chain:4,4", "openmpi", 32768)),
    ("evidence", "MPICH's default takes {} s after it", lambda: [ordered(2)]),
    ("../README", "alone took all-gathers from {} s to {} s, Hocket to {} s", of_the_random_cell),
    ("commands", "{} programs of MPICH's and mpi4py's own test suites, counted once for each MPI library: no steady "
     "verdict differs, {} are unsteady", suites),
    ("commands", "{} random programs with MPICH in {} launches: none differs. {} with Open MPI in {} launches: one "
     "launch differs", random_programs),
    ("algorithms", "A hundred thousand hosts take at most {} s of processor, and the whole command {} to {} s", orders),
]  # fmt: skip


@pytest.mark.parametrize(("page", "claim", "figures"), CLAIMS, ids=[claim[:40] for _, claim, _ in CLAIMS])
def test_a_claim_is_what_its_file_allows(page: str, claim: str, figures: Callable[[], Figures]) -> None:
    assert claim.format(*figures()) in prose(page)


def test_slurm_in_the_lab() -> None:
    assert {row[0] for row in cells_of("lab-slurm")[1:]} == {"mpich"}
    assert "all-gathers with MPICH under a real Slurm in the lab" in prose("evidence")


def test_bold_figures_of_paths_are_the_least() -> None:
    rows = re.findall(
        r"^\| (?:MPICH|Open MPI) \| all-[\w-]+ (\|.*)\|$", (ROOT / "docs/many-paths.md").read_text(), re.M
    )
    assert len(rows) == 6
    for row in rows:
        cells = [cell.strip() for cell in row.split("|")[1:]]
        assert min(cells, key=lambda cell: float(cell.strip("*"))).startswith("**") and row.count("**") == 2


# Pages link these for the reader, and quote no figure of them.
LINKED = {
    *("clients", "lab-all-reduce", "lab", "lab-broadcast", "lab-gather", "lab-rates", "lab-reduce-scatter"),
    *("irregular-openmpi", "lab-vector"),
    *("lab-two-level", "lab-two-level-4x8", "lab-two-level-irregular", "lab-two-level-openmpi", "plans-of-sizes"),
    *("smpi", "smpi-allgather", "smpi-reductions", "smpi-torus", "smpi-two-level"),
}  # fmt: skip


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/evidence.md", "docs/commands.md"])
def test_each_file_that_a_page_links_is_compared(page: str) -> None:
    linked = set(re.findall(r"bench/results/([\w-]+)\.(?:md|csv)", (ROOT / page).read_text()))
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("*.py"))
    assert {name for name in linked if not re.search(rf'"{name}(\.\w+)?"', tests)} <= LINKED
