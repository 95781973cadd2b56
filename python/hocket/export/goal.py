"""GOAL, the text that LogGOPSim and ATLAHS simulate (https://github.com/spcl/LogGOPSim, src/LogGOPSim/txt2bin.re).

A rank posts all its receives at once. A send requires the tokens that it waits for, its sender's own receives that it
passes on, and that its sender's sends before it are over. A token is a message of a byte that follows a receive. A send
is over in LogGOPSim when it has left its sender; so a window holds back what one sender sends, tokens what others
receive."""

from collections import defaultdict
from collections.abc import Iterator

from hocket.export.transfers import TOKEN_BYTES, Token, Transfers


def files(plan: Transfers, output: str) -> dict[str, Iterator[str]]:
    """Write one file; the tag of a message is twice its number in the plan, of a token twice its number and one."""
    return {output: _lines(plan)}


def _lines(plan: Transfers) -> Iterator[str]:
    yield f"// {plan.demand.pattern} of {plan.ranks} ranks by {plan.algorithm}: {len(plan.transfers)} messages, "
    yield f"window {plan.window}\nnum_ranks {plan.ranks}\n"
    sent: defaultdict[int, list[tuple[int, Token]]] = defaultdict(list)  # by what a token follows
    awaited: defaultdict[int, list[tuple[int, Token]]] = defaultdict(list)  # by the send that waits
    for number, token in enumerate(plan.tokens()):
        sent[token.cause].append((number, token))
        awaited[token.effect].append((number, token))
    for rank in range(plan.ranks):
        yield f"\nrank {rank} {{\n"
        yield from _receives(plan, rank, sent)
        yield from _sends(plan, rank, awaited)
        yield "}\n"


def _receives(plan: Transfers, rank: int, sent: defaultdict[int, list[tuple[int, Token]]]) -> Iterator[str]:
    for number in plan.receives[rank]:
        transfer = plan.transfers[number]
        yield f"r{number}: recv {transfer.bytes}b from {transfer.src} tag {2 * number} cpu 0 nic 0\n"
        for place, token in sent[number]:
            yield f"t{place}: send {TOKEN_BYTES}b to {token.dst} tag {2 * place + 1} cpu 0 nic 0\n"
            yield f"t{place} requires r{number}\n"


def _sends(plan: Transfers, rank: int, awaited: defaultdict[int, list[tuple[int, Token]]]) -> Iterator[str]:
    for number in plan.sends[rank]:
        transfer = plan.transfers[number]
        yield f"s{number}: send {transfer.bytes}b to {transfer.dst} tag {2 * number} cpu 0 nic 0\n"
        for place, token in awaited[number]:
            yield f"w{place}: recv {TOKEN_BYTES}b from {token.src} tag {2 * place + 1} cpu 0 nic 0\n"
            yield f"s{number} requires w{place}\n"
        for own in plan.before[number]:
            if plan.transfers[own].dst == rank:
                yield f"s{number} requires r{own}\n"
        for own in plan.over[number]:
            yield f"s{number} requires s{own}\n"
        if plan.started[number] >= 0 and plan.started[number] not in plan.over[number]:
            yield f"s{number} irequires s{plan.started[number]}\n"
