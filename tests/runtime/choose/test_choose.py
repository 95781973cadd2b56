"""Selection of a call's candidate by the runtime. The clock is the test program's: costs are the same on
every machine."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Launched = Callable[..., subprocess.CompletedProcess[str]]

# Microseconds a call. What a step costs is measured: milliseconds on busy machines.
SLOW, FAST = "600000", "600"
LEARN = ["--choose", "learn"]


@dataclass(frozen=True, slots=True)
class Told:
    scheduled: int
    first: int  # scheduled call, counted from 0; -1: none
    last: int
    persistent: bool
    agreements: int  # of the first rank with the others
    said: str


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Where the ranks keep what they learn."""
    return tmp_path / "choices"


@pytest.fixture
def calls(launch: Launched, kept: Path) -> Callable[..., Told]:
    def run(
        native: str,
        scheduled: str,
        *options: str,
        form: str = "blocking",
        number: int = 40,
        network: str = "chain:2,2",
        size: int = 8192,
        look: str = "1000",  # microseconds that MPI_Wtime moves when the runtime looks at it, at first and later
        env: Mapping[str, str] = MappingProxyType({}),
    ) -> Told:
        program = f"choice_calls {form} {size} {number} {native} {scheduled} {look}"
        done = launch(program, network, 4, *(options or LEARN), env={"HOCKET_CHOICES": str(kept), **env})
        assert done.returncode == 0 and "ok " in done.stdout, done.stdout + done.stderr
        found = re.search(
            r"scheduled (\d+) first (-?\d+) last (-?\d+) persistent (\d) agreements (\d+)", done.stdout
        )
        assert found, done.stdout
        count, first, last, persistent, agreements = map(int, found.groups())
        return Told(count, first, last, bool(persistent), agreements, done.stderr)

    return run


def only_file(kept: Path) -> Path:
    (path,) = kept.glob("*.txt")
    return path


@pytest.mark.parametrize("form", ["blocking", "all-gather", "vector"])
def test_a_faster_schedule_is_found_and_stays(calls: Callable[..., Told], kept: Path, form: str) -> None:
    told = calls(SLOW, FAST, form=form)
    assert told.first == 1, "only the first call is the library's"
    assert told.last == 39 and told.scheduled >= 38
    assert re.search(r"winner=(window-\d|order) ", only_file(kept).read_text())


def test_a_library_that_stalls_on_one_rank_in_turn_is_slow(calls: Callable[..., Told], kept: Path) -> None:
    """The others are done soon, and wait in the next call: the least duration over the ranks is that of a schedule."""
    told = calls(SLOW, FAST, form="stalls")
    assert told.last == 39 and told.scheduled >= 36
    assert "winner=native " not in only_file(kept).read_text()


@pytest.mark.parametrize("form", ["blocking", "vector"])
def test_a_slower_schedule_costs_a_few_calls_at_most(
    calls: Callable[..., Told], kept: Path, form: str
) -> None:
    """The prediction is wrong: it knows the library's time and the network's, not what a schedule will take."""
    told = calls("20000", "100000", number=60, look="1", form=form)
    assert told.scheduled <= 3
    assert "winner=native " in only_file(kept).read_text()


@pytest.mark.parametrize("form", ["blocking", "all-gather", "all-reduce", "vector"])
def test_what_takes_too_long_gives_up_its_order(
    calls: Callable[..., Told], tmp_path: Path, form: str
) -> None:
    """The program checks all bytes, in this call and the ones after it. What the wires are said to do faster than the
    library serves first."""
    trace = tmp_path / "trace"
    env = {"HOCKET_TRACE": str(trace)}
    assert calls("20000", "900000", form=form, number=60, look="1", env=env).scheduled > 0
    texts = [path.read_text() for path in tmp_path.glob("trace.*")]
    assert len(texts) == 4 and all(1 <= text.count("give up order") <= 3 for text in texts)


def test_broadcasts_learn_only_where_all_ranks_wait(calls: Callable[..., Told]) -> None:
    """A root need not wait in one: what is to be agreed is left for the next barrier. What the library sends before
    anybody receives it stays the library's."""
    told = calls(SLOW, FAST, form="broadcast", size=1 << 16)
    assert told.first == 1 and told.last == 39 and told.scheduled >= 34
    for form, size in (("broadcasts", 1 << 16), ("broadcast", 1 << 15)):
        told = calls(SLOW, FAST, form=form, size=size)
        assert (told.scheduled, told.agreements) == (0, 0)


def test_what_gains_keeps_its_order(calls: Callable[..., Told], tmp_path: Path) -> None:
    assert calls(SLOW, FAST, env={"HOCKET_TRACE": str(tmp_path / "trace")}).last == 39
    assert not any("give up order" in path.read_text() for path in tmp_path.glob("trace.*"))


def test_where_schedules_lose_other_sizes_are_tried_more_rarely(calls: Callable[..., Told]) -> None:
    """Six sizes in turn, 20 calls each, half as slow again. Each by itself would be worth two calls."""
    assert calls("20000", "30000", form="sizes", size=1 << 18, number=120, look="1").scheduled <= 15


def test_aggregates_are_offered_where_hosts_have_several_ranks(calls: Callable[..., Told]) -> None:
    told = calls(SLOW, FAST, network="chain:1,1*2")
    assert "all-to-all of 4 ranks on 2 hosts, aggregated: " in told.said and told.scheduled > 0
    without = calls(SLOW, FAST, network="chain:1,1*2", env={"HOCKET_HOST_MEMORY": "0"})
    assert "aggregated" not in without.said and without.scheduled > 0


def test_aggregates_are_offered_to_small_irregular_calls(calls: Callable[..., Told]) -> None:
    """Not that they stay: to the clock of ranks that carry nothing an aggregated call is the library's."""
    told = calls(SLOW, FAST, form="vector", size=8, number=160, network="chain:1,1*2")
    assert "all-to-all of 4 ranks on 2 hosts, aggregated: " in told.said and told.scheduled > 0


def test_a_size_that_never_comes_again_does_not_hold_up_others(calls: Callable[..., Told]) -> None:
    """The cost of its second call is never agreed on."""
    told = calls(SLOW, FAST, form="left", size=1 << 18)
    assert told.first == 1 and told.last == 39 and told.scheduled >= 34


def test_a_gain_is_found_for_each_size(calls: Callable[..., Told]) -> None:
    told = calls(SLOW, FAST, form="sizes", size=1 << 18, number=240)
    assert told.scheduled >= 100 and told.last >= 220


def test_what_is_known_serves_from_the_first_call_on(calls: Callable[..., Told], kept: Path) -> None:
    calls(SLOW, FAST)
    first = only_file(kept).read_text()
    again = calls(
        SLOW, FAST, number=300
    )  # enough for a call to be timed, which takes a hundredth of the time
    assert again.first == 0 and again.last == 299 and again.scheduled >= 299
    assert only_file(kept).read_text() != first  # more of it is known now

    other = calls(SLOW, FAST, network="chain:3,1", number=12)
    assert other.first == 1, "timings of another network counts for nothing"
    faster = calls(SLOW, FAST, number=12, network="chain:2,2@10Gbit")
    assert faster.first == 0, "rates may be measured between two jobs"
    assert calls(SLOW, FAST, size=16384, number=12).first == 1, "nor that of another size"


@pytest.mark.parametrize(
    "damage", [b"hocket choices 2\nplace=1 call\n", b"\xff\x00\n", b"hocket choices 1\n", b""]
)
def test_damaged_timings_is_told_once_and_learned_anew(
    calls: Callable[..., Told], kept: Path, damage: bytes
) -> None:
    calls(SLOW, FAST)
    path = only_file(kept)
    path.write_bytes(damage)
    told = calls(SLOW, FAST)
    assert told.first == 1 and told.last == 39
    warnings = [line for line in told.said.splitlines() if "HOCKET_CHOICES" in line]
    assert len(warnings) == 1 and "measured again" in warnings[0], told.said
    assert "winner=" in path.read_text()


def test_nowhere_to_keep_it(calls: Callable[..., Told], kept: Path) -> None:
    kept.write_text("a file")
    told = calls(SLOW, FAST)
    assert told.last == 39
    warnings = [line for line in told.said.splitlines() if "HOCKET_CHOICES" in line]
    assert len(warnings) == 1 and "cannot write" in warnings[0], told.said


def test_one_long_call_does_not_make_the_ranks_meet(calls: Callable[..., Told]) -> None:
    """It lasts as long as finding out would; the next one shows that it was held up."""
    told = calls("20000", FAST, *LEARN, "-v", form="hiccup", look="1")
    assert told.scheduled == 0 and "phases by" not in told.said
    assert told.agreements <= 5  # whether anything is kept; two calls, twice


def test_a_first_call_that_opens_connections_does_not_make_the_ranks_meet(calls: Callable[..., Told]) -> None:
    """It is worth finding out about, and 30 ms may be what opening three connections takes."""
    told = calls("29000", FAST, *LEARN, "-v", form="opens", look="1")
    assert told.scheduled == 0 and "phases by" not in told.said


@pytest.mark.parametrize(("form", "agreements"), [("blocking", 2), ("vector", 13)])
def test_what_short_calls_cost(calls: Callable[..., Told], form: str, agreements: int) -> None:
    """Calls 64 and 65 of 200 are timed; what is sent in irregular calls is asked ever more rarely."""
    assert calls("30", FAST, form=form, size=16, number=200).agreements == agreements


def test_large_irregular_calls_that_outrun_the_wires_make_nobody_meet(calls: Callable[..., Told]) -> None:
    """A rank's data need 25 ms of its host's link."""
    for native, meets in (("600", False), ("60000", True)):
        told = calls(native, FAST, *LEARN, "-v", form="vector", size=1 << 20, number=12)
        assert (told.scheduled > 0) == ("phases by" in told.said) == meets


@pytest.mark.parametrize(("native", "size"), [("30", 8192), (SLOW, 64)])
def test_short_jobs_are_the_librarys_and_nothing_is_set_up(
    calls: Callable[..., Told], kept: Path, native: str, size: int
) -> None:
    """Two calls would not pay for a plan; calls of a few bytes are not even looked at so soon."""
    told = calls(native, FAST, "--choose", "learn", "-v", size=size)
    assert told.scheduled == 0 and "phases by" not in told.said
    assert not kept.exists()


def test_by_prediction_alone(calls: Callable[..., Told], kept: Path) -> None:
    told = calls(SLOW, FAST, "--choose", "predict", number=12)
    assert told.first == 1 and told.scheduled == 11  # no trials
    assert calls("30", FAST, "--choose", "predict", number=12).scheduled == 0
    assert not kept.exists()


@pytest.mark.parametrize("options", [["--choose", "off"], ["--choose", "learn", "--min-bytes", "1"]])
def test_limits_decide_where_they_are_asked_for(calls: Callable[..., Told], options: list[str]) -> None:
    assert calls(FAST, SLOW, *options, number=6, size=16384).scheduled == 6


def test_a_limit_passes_on_what_is_smaller(calls: Callable[..., Told]) -> None:
    assert calls(SLOW, FAST, *LEARN, "--min-bytes", "16384").scheduled == 0


def test_calls_that_cannot_be_timed_follow_those_that_were(calls: Callable[..., Told]) -> None:
    assert calls(SLOW, FAST, form="both").persistent
    assert not calls("600", "60000", form="both", number=20, size=65536).persistent


def test_the_report_tells_what_was_found_out(calls: Callable[..., Told], tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    told = calls(SLOW, FAST, *LEARN, f"--report={file}")
    assert "candidates selected during the run" in told.said
    choices: list[dict[str, Any]] = json.loads(file.read_text())["choices"]
    (choice,) = choices
    assert choice["collective"] == "all-to-all" and choice["candidate"] != "native"
    assert (choice["communicator"], choice["message"], choice["calls"]) == (4, 8192, 40)
    assert choice["trials"] <= 3, "each other schedule once: all are as fast"
    assert told.scheduled >= choice["calls"] - 2, "the slow library serves two calls"
    assert choice["measured"] < 0.1 * choice["native"]
    assert choice["native"] == pytest.approx(0.6, rel=0.1)


def test_ranks_do_not_meet_for_small_irregular_calls(calls: Callable[..., Told]) -> None:
    """Where they meet they find that the network does not know this machine."""
    for how, size, meets in (("learn", 64, False), ("learn", 1 << 16, True), ("off", 64, True)):
        told = calls(
            "60000", FAST, "--choose", how, "--placement", "names", form="vector", size=size, number=10
        )
        assert ("the MPI library serves" in told.said) == meets, (how, size, told.said)


def test_what_is_known_of_irregular_calls_serves_the_next_run(calls: Callable[..., Told], kept: Path) -> None:
    """Whatever their sizes, if they are of one class."""
    assert calls(SLOW, FAST, form="vector").first == 1
    text = only_file(kept).read_text()
    assert re.search(r"call=alltoallv size=26 layout=sparse-0-skewed-0 .*winner=(window|order)", text)
    assert calls(SLOW, FAST, form="vector", number=12).first == 0
    assert calls(SLOW, FAST, form="vector", number=12, size=20000).first == 1, "another class"
    assert len(re.findall("call=alltoallv", only_file(kept).read_text())) == 2
    assert calls(SLOW, FAST, form="vector", number=12, network="chain:3,1").first == 1


def test_sizes_that_come_again_may_have_a_schedule_of_their_own(
    calls: Callable[..., Told], kept: Path
) -> None:
    """If they are skewed. Where they never do, what serves meanwhile would be taken for it."""
    for form, offered in (("vector-skewed", False), ("vector-skewed-same", True)):
        told = calls(SLOW, FAST, *LEARN, "-vv", form=form, number=6, size=32768)
        predicted = re.search(r"predicted milliseconds:(.*)", told.said)
        assert predicted is not None and (" planned " in predicted[1]) == offered, told.said
        assert told.scheduled == 5
        text = only_file(kept).read_text()
        assert "layout=sparse-0-skewed-1" in text and ("candidate=planned," in text) == offered
        only_file(kept).unlink()


def test_sizes_are_remembered_where_plans_of_an_earlier_communicator_are_taken_over(
    calls: Callable[..., Told],
) -> None:
    """In the call in which ranks meet. Memory that was freed is filled with what no size is."""
    env = {"MALLOC_PERTURB_": "165", "HOCKET_CHOICES": ""}
    told = calls(SLOW, FAST, *LEARN, "-vv", form="vector-skewed-again", number=12, size=32768, env=env)
    assert told.scheduled == 10
    assert len(re.findall(r"predicted milliseconds:.* planned ", told.said)) == 2


def test_nonblocking_irregular_calls_follow_what_blocking_ones_have_found(calls: Callable[..., Told]) -> None:
    """The first of them asks for communicators, which the barrier after it makes."""
    gained = calls(SLOW, FAST, form="vector-later")
    assert gained.last == 39 and gained.scheduled >= 28 + 9


def test_nonblocking_irregular_calls_stay_with_a_faster_library(calls: Callable[..., Told]) -> None:
    assert calls("20000", "100000", number=60, look="1", form="vector-later").scheduled <= 3


def test_irregular_calls_that_lost_are_left_to_the_library_in_the_next_run(
    calls: Callable[..., Told],
) -> None:
    lost = {"form": "vector", "look": "1", "number": 60}
    assert calls("20000", "100000", **lost).scheduled >= 1
    assert calls("20000", "100000", **lost).scheduled == 0
