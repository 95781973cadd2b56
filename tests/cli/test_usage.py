"""Errors found by click are one line, too: it names the option and its allowed values."""

from __future__ import annotations

import pytest

from refusals import refused

STAR = ("--network", "star:4")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("plan", "all-to-all", *STAR, "--window", "0"), "--window 0 is not accepted; give a whole number from 1 to"),
        (("plan", "all-to-all", *STAR, "--rank", "-1"), "--rank -1 is not accepted; give a whole number of at least"),
        (("plan", "irregular", *STAR, "--demand", "x.mtx", "--seed", "-1"), "--seed -1 is not accepted; give"),
        (("run", *STAR, "-n", "0", "true"), "-n 0 is not accepted; give a whole number of at least 1"),
        (("run", *STAR, "-n", "two", "true"), "-n 'two' is not accepted; give a whole number of at least 1"),
        (("lab", "run", *STAR, "-n", "0", "true"), "-n 0 is not accepted; give a whole number of at least 1"),
        (("doctor", "--seconds", "0"), "--seconds 0.0 is not accepted; give a number from 1 to 600"),
        (("doctor", "--seconds", "nan"), "--seconds nan is not accepted; give a number from 1 to 600"),
        (("doctor", "--seconds", "inf"), "--seconds inf is not accepted; give a number from 1 to 600"),
        (("doctor", "--seconds", "-3"), "--seconds -3.0 is not accepted; give a number from 1 to 600"),
        (("doctor", "--seconds", "long"), "--seconds 'long' is not accepted; give a number from 1 to 600"),
        (("bench", "all-to-all", "--time", "nan"), "--time nan is not accepted; give a number from 0 to 3600"),
        (("plan", "all-to-all", *STAR, "--rank", "9" * 20), f"there is no rank {'9' * 20}; the network has ranks"),
        (("plan", "all-to-all", *STAR, "--bytes", "inf"), "--bytes: 'inf' is not a size; write it like"),
        (("plan", "all-to-all", *STAR, "--window", "9" * 20), f"--window {'9' * 20} is not accepted; give"),
        (("plan", "all-to-all", *STAR, "-o", ""), "--output is empty; give what it should be, or leave it out"),
        (("plan", "all-gather", *STAR, "--alpha", "nan"), "--alpha: 'nan' is not a time; write it like"),
        (("simulate", *STAR, "--token-cost", "x"), "--token-cost: 'x' is not a time; write it like"),
        (("simulate", *STAR, "--barrier-cost", "x"), "--barrier-cost: 'x' is not a time; write it like"),
        (("calibrate", "memory", "--memory", "0"), "--memory 0 is too little; give a size between 1 and 1 PiB"),
        (("run", *STAR, "-n", "2", "--min-bytes", "x", "true"), "--min-bytes: 'x' is not a size; write it like"),
        (("bench", "all-to-all", "-n", "2", "--csv", ""), "--csv is empty; give what"),
        (("bench", "alltoallv", "-n", "2", "--density", "nan"), "--density nan is not accepted; give a number"),
        (("bench", "alltoallv", "-n", "2", "--seed", "9" * 20), f"--seed {'9' * 20} is not accepted; give a whole"),
        (("bench", "all-gather", "-n", "2", "--sizes", "1e99"), "--sizes: 1e99 is more than 2^63 - 1 bytes; write"),
        (("bench", "all-gather", "-n", "9" * 20), f"-n {'9' * 20}: more than the"),
        (("info", "fast"), "no algorithm is called 'fast'; 'hocket info' lists them all"),
        (("help", "../passwd"), "there is no topic '../passwd'; 'hocket help' lists them"),
        (("doctor", "--abi", "old"), "--abi 'old' is not accepted; give one of native, standard"),
        (("simulate", *STAR, "--overhead", "0"), "--overhead 0.0 is not accepted; give a number from 1 to 100"),
        (("simulate", *STAR, "--overhead", "nan"), "--overhead nan is not accepted; give a number from 1 to 100"),
        (("plan", "all-to-all", *STAR, "--rank", "٣"), "--rank '٣' is not accepted; give a whole number of at least"),
        (("plan", "all-to-all", *STAR, "--rank", "1_0"), "--rank '1_0' is not accepted; give a whole number"),
        (("plan", "all-to-all", *STAR, "--bytes", "٣"), "--bytes: '٣' is not a size; write it like"),
        (("plan", "all-to-all", *STAR, "--bytes", ""), "--bytes is empty; give what it should be, or leave it out"),
        (("plan", "all-to-all", *STAR, "--oversubscription", "٣"), "--oversubscription ٣ is not an oversubscription; "),
        (("simulate", *STAR, "--overhead", "١"), "--overhead '١' is not accepted; give a number from 1 to 100"),
        (("run", *STAR, "-n", "2", "--flow", "window:٣", "true"), "no flow control is called 'window:٣'; choose"),
        (("plan", "all-to-all", *STAR, "--rank", "9" * 400), f"there is no rank {'9' * 60}…{'9' * 7}; the"),
        (("plan", "all-to-all", *STAR, "-o", "--json"), "--output lacks its value: --json is another option; write"),
        (("plan", "all-to-all", *STAR, "-o", "-"), "cannot write -: standard output has what the command prints; name"),
        (("plan", "all-to-all", *STAR, "-o", "p.hkt/"), "cannot write p.hkt/: there is no directory p.hkt; name"),
        (("plan", "all-to-all", *STAR, "-o", "p", "--dump", "./p"), "--output and --dump name the same file p; name"),
        (("simulate", *STAR, "--plot", "heat=a.svg", "--plot", "timeline=a.svg"), "--plot and --plot name the same"),
        (("simulate", *STAR, "--plot", "heat"), "--plot 'heat' is not KIND=FILE; give timeline=FILE or"),
        (("simulate", *STAR, "--plot", "heat=a.gif"), "--plot heat=a.gif has no known ending; use one of .svg"),
        (("report", __file__, "-o", __file__), "FILE... and --output name the same file"),
        (("run", *STAR, "-n", "2", ""), "the name of the program is empty; give its path"),
        (("completion", "tcsh"), "SHELL 'tcsh' is not accepted; give one of bash, zsh, fish"),
        (("plan", "all-to-all"), "--network NETWORK is missing; give it, set HOCKET_NETWORK or write /etc/hocket/"),
        (("verify",), "PLAN is missing; see 'hocket verify --help'"),
        (("plan", "all-to-all", "--network"), "option '--network' requires an argument; write"),
        (("hocket-sort", "--payload", "a.npy"), "option '--payload' requires 2 arguments; write"),
        (("info", "--json=no"), "option '--json' does not take a value; leave"),
        (("completion", "bash", "all"), "unexpected extra argument (all); see 'hocket completion --help'"),
        (("--fast",), "'hocket' has no option --fast; see 'hocket --help'"),
        (("--versoin",), "'hocket' has no option --versoin; did you mean --version?"),
        (("fly",), "'hocket' has no command fly; see 'hocket --help'"),
        (("simulat",), "'hocket' has no command simulat; did you mean simulate?"),
        (("plan", "all-to-al"), "'hocket plan' has no command all-to-al; did you mean all-to-all?"),
        (("plan", "all-to-all", "--netwrk", "x"), "no option --netwrk; did you mean --network?"),
        (("run", *STAR, "-n", "2", "--flwo", "token", "true"), "no option --flwo; did you mean --flow?"),
        (("lab", "run", "--netwrk", "star:4", "true"), "no option --netwrk; did you mean --network?"),
        (("record", "--outptu", "x", "mpiexec"), "no option --outptu; did you mean --output?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_one_line(hocket, arguments: tuple[str, ...], says: str) -> None:
    refused(hocket(*arguments), says)


def test_the_program_says_the_same(program) -> None:
    refused(program("plan", "all-to-all", *STAR, "--window", "0"), "--window 0")
    refused(program("fly"), "no command fly")


@pytest.mark.parametrize("arguments", [(), ("plan",), ("lab",)], ids=" ".join)
def test_a_group_alone_shows_its_help(program, arguments: tuple[str, ...]) -> None:
    answer = program(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("Usage: hocket") and ("Commands:" in answer.err) == bool(arguments)


@pytest.mark.parametrize("arguments", [("--help",), ("plan", "-h"), ("run", "--help")], ids=" ".join)
def test_help(program, arguments: tuple[str, ...]) -> None:
    answer = program(*arguments)
    assert (answer.code, answer.err) == (0, "") and answer.out.startswith("Usage: hocket")


@pytest.mark.parametrize("network", ["star:4", "tree:2x2"])
def test_a_algorithm_that_cannot_serve_names_those_that_can(hocket, network: str) -> None:
    for command in (("plan", "all-to-all"), ("simulate",)):
        answer = hocket(*command, "--network", network, "--algorithm", "product")
        refused(
            answer,
            "--algorithm product cannot serve this: it needs a torus, a mesh or a hypercube; give auto",
        )
        able = answer.err.strip().rpartition(": ")[2].split(", ")
        assert "tree" in able and "product" not in able
        assert all(  # 1: the verifier refuses the schedule
            hocket("plan", "all-to-all", "--network", network, "--algorithm", s).code in (0, 1) for s in able
        )
