"""Figures of the evidence page, and of what paths are worth, are those of the result files.

Each test writes the sentence that the result file allows, and looks for it on the page.
"""

from __future__ import annotations

import re
from collections import Counter

from claims import cells_of, prose, rows_of, text_of

EVIDENCE = prose("evidence")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def test_cells_that_miss() -> None:
    """Kinds of the cells of overheads above the target."""

    def kind(place: str, call: str, size: str) -> str:
        if place.startswith("shared memory"):
            return "are ranks in shared memory"
        if size == "8":
            return "are calls of 8 bytes on emulated hosts"
        if "1Gbit" in place:
            return "are all-to-alls at 1 Gbit/s" if call == "alltoall" else f"are {call} at 1 Gbit/s"
        return {"alltoall": "are all-to-alls of 4 KiB", "dense": "are irregular exchanges"}.get(
            call, f"are {call}"
        )

    missed = Counter(kind(row[0], row[2], row[3]) for row in cells_of("overhead") if row[-1] == "missed")
    (told,) = re.findall(rf"Of the {missed.total()} cells that miss, (.*?)\. The result file", EVIDENCE)
    parts = [f"{NUMBERS[count]} {what}" for what, count in missed.items()]
    parts = [part.replace("one are irregular exchanges", "one is an irregular exchange") for part in parts]
    assert sorted(re.split(", |\\. ", told.lower())) == sorted(part.lower() for part in parts)


def test_the_replay() -> None:
    (row,) = (row for row in cells_of("replay") if row[:2] == ["the engine", "24"])
    middle, worst = row[6].split(", ")
    assert (
        f"Over 24 calls the median cell takes {middle} of the native time, and the worst {worst}." in EVIDENCE
    )


def test_the_cost_of_calls_that_are_passed_on() -> None:
    times = [float(row[4].split()[0]) for row in cells_of("passed-on") if row[1] == "8-byte all-to-all"]
    least, most = (f"{100 * (time - 1):.1f}".removesuffix(".0") for time in (min(times), max(times)))
    assert f"an 8-byte all-to-all takes {least} to {most} % longer" in EVIDENCE


def test_rings_on_real_placements() -> None:
    rows = [row for row in cells_of("real-placements") if row[:3] == ["all-gather", "1", "100"]]
    assert rows and {row[6] for row in rows} == {"1.00–1.00"}  # over Hocket's time
    assert {row[4] for row in rows} == {"1.00"}  # Hocket's over the bound, at worst
    assert (
        "hosts of 100 real jobs of a Slurm system, all-gathers by a ring in host order take 1.00 times"
        in EVIDENCE
    )


def test_fabrics_with_installed_routes() -> None:
    rows = rows_of("fabrics")
    exchanges = [row for row in rows if row["collective"] == "all-to-all"]
    fabrics = {row["fabric"] for row in exchanges}
    assert max(row["hosts"] for row in exchanges) == 512 and len({row["engine"] for row in exchanges}) == 5
    assert f"routed {len(fabrics)} fabrics of up to 512 hosts, which makes {len(exchanges)} cases" in EVIDENCE
    usual = [row["phases_ratio"] for row in exchanges if row["phases_ratio"] <= 1.045]
    over = [row for row in exchanges if row["phases_ratio"] > 1.045]
    least, most = (f"{each(row['phases_ratio'] for row in over):.2f}" for each in (min, max))
    assert f"All-to-alls take at most {max(usual):.2f} times the bound on these routes." in EVIDENCE
    assert (
        f"In {NUMBERS[len(over)]} cases of at most {max(row['hosts'] for row in over)} hosts "
        f"they take {least} to {most}."
    ) in EVIDENCE
    others = max(row["time_ratio"] or 0 for row in rows if row["collective"] != "all-to-all")
    assert f"All-gathers and reductions take at most {others:.2f} times their bound." in EVIDENCE


def test_all_to_alls_over_the_bound_of_any_routes() -> None:
    rows = rows_of("true-bounds")
    ratios = [row["ratio"] for row in rows]
    before = [row["S_before"] / max(row["B"], row["P"]) for row in rows if row["S_before"]]
    assert (
        f"On {len(rows)} networks of the literature, among them dragonflies, Jellyfish, HyperX, Slim Fly and GPU "
        f"graphs, all-to-alls by default settings take {min(ratios):.2f} to {max(ratios):.2f} times that bound "
        "(figures)."
    ) in EVIDENCE
    assert (
        f"{sum(ratio <= 1.05 for ratio in ratios)} of the networks are within 1.05. "
        f"By shortest paths {len(before)} of these networks take {min(before):.2f} to {max(before):.2f} times."
    ) in EVIDENCE


def test_rings_on_installed_routes() -> None:
    rings: dict[str, list[float]] = {}
    for row in rows_of("fabrics"):
        if row["collective"] == "all-to-all":
            rings.setdefault(row["fabric"].split(":")[0], []).append(row["ring"])
    trees = rings["fat-tree"]
    near = [ratio for ratio in trees if ratio < 1.085]
    far = [ratio for ratio in trees if ratio >= 1.085]
    assert (
        f"at most {max(near):.2f} times the bound in {len(near)} of {len(trees)} cases of fat trees"
        in EVIDENCE
    )
    assert (
        f"In the others it takes {min(far):.2f} to {max(far):.2f} times the bound, "
        f"on tori {min(rings['torus']):.1f} to {max(rings['torus']):.1f} times, "
        f"and on dragonflies {min(rings['dragonfly']):.1f} to {max(rings['dragonfly']):.1f} times."
    ) in EVIDENCE


def test_closed_forms() -> None:
    rows = [row for row in cells_of("closed-forms") if row[0] != "network"]
    assert all(
        row[11:13] == ["0", "0"] for row in rows
    )  # of the samples nothing met, nothing was out of order
    whole = [row for row in rows if not row[0].startswith(("all-gather", "all-reduce"))]
    assert all(row[10] == "1,000,000" for row in whole)

    def largest(*words: str) -> str:
        return max(
            (row[1] for row in whole if row[0].startswith(words)), key=lambda told: int(told.replace(",", ""))
        )

    assert f"an all-to-all on trees | {largest('1,000,000')} hosts" in EVIDENCE
    assert f"on full fat trees | {largest('fat tree')} hosts" in EVIDENCE
    assert f"on parts of fat trees | {largest('99 %')} hosts" in EVIDENCE
    assert f"on oversubscribed fat trees | {largest('2:1')} hosts" in EVIDENCE
    assert f"on full dragonflies | {largest('dragonfly')} hosts" in EVIDENCE
    assert f"on some grids | {largest('torus')} hosts" in EVIDENCE
    (tree,) = (row for row in whole if row[0].startswith("1,000,000"))
    assert f"on a tree of 1,000,000 hosts in {float(tree[5]):.1f} s and {tree[8]} MB" in EVIDENCE


def test_noise() -> None:
    shown = text_of("noise").split("## 2.")[0]
    rows = re.findall(r"^\| ((?:10,000|9,826),[^|]*) \| ([\d.]+) \| (.*) \|$", shown, re.MULTILINE)
    left = {
        (place, float(delay)): [float(cell) for cell in cells.split(" | ")] for place, delay, cells in rows
    }
    assert len({place for place, _ in left}) == 3
    assert {cells[0] for cells in left.values()} == {1.0}
    ((four, eight),) = {tuple(cells[2:]) for (_, delay), cells in left.items() if delay == 4}
    assert (
        f"Of a delay of 4 message times, {four:g} is left with window 4, and {eight:g} with window 8."
        in EVIDENCE
    )


SAID = re.compile(
    r"^\| (?P<job>\w+, .*), (?P<call>\w+) \| (?P<bytes>[\d,]+) \| [\w-]+ \| (?P<predicted>[\d,]+)"
    r" \((?P<low>[\d,]+)–(?P<high>[\d,]+)\) \| (?P<best>[\d,]+) \| \S+ \| (?P<outcome>\w+) \|$",
    re.MULTILINE,
)


def elsewhere(job: str, call: str, least: float, most: float = 1e12) -> list[dict[str, str]]:
    """Predictions of our schedules on other people's machines, of so many MiB."""
    found = [match.groupdict() for match in SAID.finditer(text_of("public-machines"))]
    size = 1 << 20
    return [
        row
        for row in found
        if re.match(job, row["job"])
        and row["call"] == call
        and least * size <= int(row["bytes"].replace(",", "")) <= most * size
    ]


def outcomes(rows: list[dict[str, str]]) -> set[str]:
    assert rows
    return {row["outcome"] for row in rows}


def ms(microseconds: str, digits: int) -> str:
    return f"{int(microseconds.replace(',', '')) / 1000:.{digits}f}"


def test_our_schedules_on_other_machines() -> None:
    large = "fugaku, 4x4x4 nodes"
    gathers, exchanges = elsewhere(large, "allgather", 1), elsewhere(large, "alltoall", 8)
    assert outcomes(gathers) == outcomes(exchanges) == {"open"}
    last = gathers[-1]
    assert f"open: at 512 MiB {ms(last['predicted'], 1)} ms, best measured {ms(last['best'], 1)}" in EVIDENCE
    last = exchanges[-1]
    predicted, low, high, best = (ms(last[name], 0) for name in ("predicted", "low", "high", "best"))
    assert f"open: at 512 MiB {predicted} ms ({low} to {high}), best measured {best}" in EVIDENCE
    losing = ("allreduce", 64, 512), ("reduce_scatter", 64, 512), ("bcast", 8, 64)
    assert all(outcomes(elsewhere("fugaku", *cells)) == {"loses"} for cells in losing)
    assert outcomes(elsewhere("leonardo, 64 nodes", "reduce_scatter", 64)) == {"wins"}
    assert Counter(row["outcome"] for row in elsewhere("leonardo", "allreduce", 32))["wins"] == 1
    assert outcomes(elsewhere("leonardo", "allreduce", 32)) == {"open", "wins"}
    small = [row for call in ("allgather", "allreduce", "reduce_scatter")
             for row in elsewhere("leonardo, (32|64|128) nodes", call, 1, 8)]  # fmt: skip
    assert outcomes(small) == {"loses"}


def test_proposals() -> None:
    (row,) = (row for row in cells_of("proposals") if row[:2] == ["16,384", "32"])
    assert (
        f"Among 16,384 ranks with 32 partners each, the busiest rank exchanges {row[3]} proposals in {row[2]} rounds, "
        f"keeps {int(row[4].replace(',', '')) / 1000:.1f} KB, and gets {row[5]} times the least phases"
    ) in prose("algorithms")


def test_orders_of_a_hundred_thousand_hosts() -> None:
    longest = max(float(row[3]) for row in cells_of("order-scale") if row[0] != "network")
    assert f"A hundred thousand hosts take at most {longest:.1f} s" in prose("algorithms")
    above = [row for row in cells_of("order-mapping")[1:] if float(row[3]) > float(row[4])]
    assert above == []  # "no more than SCOTCH's in all cases measured"


def test_what_held_paths_are_worth() -> None:
    page = prose("many-paths")
    calls = ("all-to-all", "all-gather", "all-reduce")
    rows = {(row[0], row[1]): row for row in cells_of("paths") if row[1] in calls and row[3] != "24"}
    assert len(rows) == 6
    for (mpi, call), row in rows.items():
        told = " | ".join(cell.split()[0] for cell in row[3:7])
        assert f"| {'MPICH' if mpi == 'mpich' else 'Open MPI'} | {call} | {told} |" in page
    targets = {"all-to-all": 1.15, "all-gather": 1.2, "all-reduce": 1.2}
    missed = {key: 100 * (float(row[6].split()[0]) / targets[key[1]] - 1) for key, row in rows.items()}
    assert all(missed[key] <= 0 for key in rows if key[1] != "all-to-all")  # "the rest is reached"
    many = [f"{missed[mpi, 'all-to-all']:.0f}" for mpi in ("mpich", "openmpi")]
    assert f"all-to-alls miss theirs by {many[0]} % (MPICH) and {many[1]} % (Open MPI)" in page
    whole = {row[0]: row[6] for row in cells_of("paths") if row[3] == "24"}
    assert min(float(gain) for gain in whole.values()) >= 1.4
    assert f"was {whole['mpich']} times as fast as natively with MPICH, and {whole['openmpi']} times" in page
    slow = {row[0]: row[6].split()[0] for row in cells_of("paths-10mbit") if row[1] == "all-to-all"}
    assert (
        f"held all-to-alls take {slow['mpich']} times the bound with MPICH and {slow['openmpi']} with Open MPI"
        in page
    )


def test_barriers_of_crowded_ranks() -> None:
    ratios = [float(row[5]) for row in cells_of("crowded") if row[:2] == ["barrier", "8"]]
    assert min(ratios) > 100
    assert "A barrier of eight ranks on two cores then takes less than a hundredth of the time" in prose(
        "running"
    )


def test_first_starts() -> None:
    longer = [float(row[-1].split()[0]) for row in cells_of("first-start") if row[0] in ("mpich", "openmpi")]
    assert f"it takes {min(longer):.2f} to {max(longer):.2f} s longer" in prose("installation")
