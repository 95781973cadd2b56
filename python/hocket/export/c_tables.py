"""The tables of a generated routine: what each rank sends and receives, and who waits for whom."""

from __future__ import annotations

from typing import Final

RECEIVES: Final = 16  # posted ahead
WIDTH: Final = 100

Sends = list[tuple[int, int, list[int]]]  # phase, to, from whom tokens must have come
Receives = list[tuple[int, int, list[tuple[int, int]]]]  # phase, from, (who waits, with which send)


class TokenTables:
    """Who waits for whom: tokens before each send, releases after each receive."""

    template = "tokens.c.in"
    structs = (
        "struct send {\n"
        "  int phase, to;\n"
        "  int own;          /* receives of this rank that must be over first */\n"
        "  int tokens;       /* tokens that must have come first, */\n"
        "  int from[TOKENS]; /* and from whom */\n"
        "};\n"
        "struct release {\n"
        "  int rank, send; /* who waits, with which of its sends */\n"
        "};\n"
        "struct receive {\n"
        "  int phase, from;\n"
        "  int releases;                     /* tokens to send when it is in */\n"
        "  struct release release[RELEASES]; /* to this rank itself: no message, only a note */\n"
        "};"
    )

    def __init__(self, sends: list[Sends], receives: list[Receives]) -> None:
        self.receives = receives
        # A rank that waits for its own receive needs no message.
        self.sends = [
            [(phase, to, tokens.count(rank), [t for t in tokens if t != rank]) for phase, to, tokens in row]
            for rank, row in enumerate(sends)
        ]

    def sizes(self, window: int, phases: int) -> str:
        tokens = max((len(tokens) for row in self.sends for *_, tokens in row), default=0)
        releases = max((len(r) for row in self.receives for *_, r in row), default=0)
        released = max(
            sum(1 for *_, r in row for to, _ in r if to != rank) for rank, row in enumerate(self.receives)
        )
        most_receives = min(RECEIVES, len(self.sends) - 1)
        return "\n".join([
            f"#define PHASES {phases}",
            f"#define WINDOW {min(window, len(self.sends) - 1)} /* messages of a rank under way at once */",
            f"#define RECEIVES {most_receives} /* posted ahead */",
            f"#define TOKENS {max(tokens, 1)} /* most that one send waits for */",
            f"#define RELEASES {max(releases, 1)} /* most that one receive sends */",
            f"#define RELEASED {max(released, 1)} /* most that one rank sends */",
        ])  # fmt: skip

    def text(self) -> str:
        width = len(str(len(self.sends)))
        parts = []
        for rank, (sends, receives) in enumerate(zip(self.sends, self.receives, strict=True)):
            parts.append("/* phase, to, own receives, tokens, from */")
            parts.append(f"static const struct send sends_of_{rank}[MESSAGES] = {{")
            parts += [
                f"  {{{phase}, {to:{width}}, {own}, {len(tokens)}, {{{_numbers(tokens)}}}}},"
                for phase, to, own, tokens in sends
            ]
            parts.append("};\n/* phase, from, releases, rank and send */")
            parts.append(f"static const struct receive receives_of_{rank}[MESSAGES] = {{")
            parts += [
                f"  {{{phase}, {src:{width}}, {len(releases)}, {{{_pairs(releases)}}}}},"
                for phase, src, releases in receives
            ]
            parts.append("};")
        return "\n".join(parts) + "\n" + _pointers(len(self.sends))


class BarrierTables:
    """Phases alone."""

    template = "barrier.c.in"
    structs = "struct send {\n  int phase, to;\n};\nstruct receive {\n  int phase, from;\n};"

    def __init__(self, sends: list[Sends], receives: list[Receives]) -> None:
        self.sends, self.receives = sends, receives

    def sizes(self, window: int, phases: int) -> str:
        return f"#define PHASES {phases}"

    def text(self) -> str:
        parts = []
        for rank, (sends, receives) in enumerate(zip(self.sends, self.receives, strict=True)):
            for kind, word, row in (("send", "to", sends), ("receive", "from", receives)):
                parts.append(
                    f"/* phase, {word} */\nstatic const struct {kind} {kind}s_of_{rank}[MESSAGES] = {{"
                )
                parts.append(wrapped([f"{{{phase}, {other}}}" for phase, other, _ in row]))
                parts.append("};")
        return "\n".join(parts) + "\n" + _pointers(len(self.sends))


def _numbers(values: list[int]) -> str:
    return ", ".join(map(str, values)) or "0"


def _pairs(releases: list[tuple[int, int]]) -> str:
    return ", ".join(f"{{{rank}, {send}}}" for rank, send in releases) or "{0, 0}"


def wrapped(items: list[str], indent: str = "  ") -> str:
    lines, line = [], indent
    for item in items:
        if len(line) + len(item) + 2 > WIDTH and line != indent:
            lines.append(line.rstrip())
            line = indent
        line += item + ", "
    return "\n".join([*lines, line.rstrip()])


def _pointers(ranks: int) -> str:
    return "\n".join(
        f"static const struct {kind} *const {kind}s[RANKS] = {{\n"
        + wrapped([f"{kind}s_of_{rank}" for rank in range(ranks)])
        + "\n};"
        for kind in ("send", "receive")
    )
