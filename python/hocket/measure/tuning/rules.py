"""Choices as rules for MPI libraries, where a preload library is not allowed.

Only a library's own algorithms can be said there. Message sizes between those that were met are left to the library.
"""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final

from hocket.errors import HocketError
from hocket.measure.tuning.kept import Choice

# Collectives by Open MPI's names (ompi_info --param coll tuned --level 9): the number in a rules file, what a
# message size there is in terms of ours, and the algorithms' names by number.
OPENMPI: Final[Mapping[str, tuple[int, bool, tuple[str, ...]]]] = {
    "allgather": (0, True, ("linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc", "sparbit")),
    "allreduce": (2, False, ("basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring",
                             "rabenseifner")),
    "alltoall": (3, True, ("linear", "pairwise", "modified_bruck", "linear_sync", "two_proc")),
}  # fmt: skip
MPICH: Final = ("allgather", "allreduce", "alltoall")


@dataclass(frozen=True, slots=True)
class Rule:
    """Messages of `least` to `most` bytes among so many ranks go by the algorithm."""

    call: str
    ranks: int
    least: int
    most: int
    algorithm: str


def rules(choices: Iterable[Choice]) -> tuple[list[Rule], list[Choice], list[Choice]]:
    """Rules by call, ranks and size; choices that need none, as the library decides well by itself; choices that no
    rule can say."""
    made: list[Rule] = []
    needless: list[Choice] = []
    unsayable: list[Choice] = []
    for choice in choices:
        one = choice.timings
        if one.winner == "native":
            needless.append(choice)
        elif choice.algorithm is None or one.ranks == 0:
            unsayable.append(choice)
        else:
            made.append(Rule(one.call, one.ranks, choice.least, choice.most, choice.algorithm))
    made.sort(key=lambda rule: (rule.call, rule.ranks, rule.least))
    for one, other in pairwise(made):
        if (one.call, one.ranks, one.least) == (other.call, other.ranks, other.least):
            raise HocketError(f"several places have timings of {one.call} among {one.ranks} ranks",
                              remedy="name one: hocket tune export --place PLACE")  # fmt: skip
    return made, needless, unsayable


def _known(rule: Rule) -> tuple[int, bool, int]:
    if rule.call not in OPENMPI:
        raise HocketError(
            f"Open MPI's rules of {rule.call} are not known to Hocket",
            remedy="leave such calls to `hocket run`",
        )
    number, total, names = OPENMPI[rule.call]
    if rule.algorithm not in names:
        raise HocketError(
            f"Open MPI has no {rule.call} called {rule.algorithm}", remedy=f"it has {', '.join(names)}"
        )
    return number, total, names.index(rule.algorithm) + 1


def openmpi_classic(made: Sequence[Rule]) -> str:
    """The file of ``coll_tuned_dynamic_rules_filename`` up to Open MPI 5. Algorithm 0: as Open MPI decides."""
    lines = []
    by_call = [(call, list(group)) for call, group in groupby(made, lambda rule: rule.call)]
    lines.append(f"{len(by_call)} # collectives")
    for call, of_call in by_call:
        by_ranks = {ranks: list(group) for ranks, group in groupby(of_call, lambda rule: rule.ranks)}
        sizes: dict[int, list[Rule]] = {0: []}
        for ranks, group in by_ranks.items():  # a rule holds up to the next size of communicators
            sizes[ranks] = group
            if ranks + 1 not in by_ranks:
                sizes[ranks + 1] = []
        lines += [f"{_known(of_call[0])[0]} # {call}", f"{len(sizes)} # sizes of communicators"]
        for ranks, group in sorted(sizes.items()):
            steps = {0: 0}
            for rule in group:
                _, total, algorithm = _known(rule)
                scale = ranks if total else 1
                steps[rule.least * scale] = algorithm
                steps.setdefault((rule.most + 1) * scale, 0)
            lines += [f"{ranks} # ranks", f"{len(steps)} # sizes of messages"]
            lines += [f"{size} {algorithm} 0 0" for size, algorithm in sorted(steps.items())]
    return "\n".join(lines) + "\n"


def openmpi_json(made: Sequence[Rule]) -> str:
    """The file of ``coll_tuned_dynamic_rules_filename`` from Open MPI 6 on."""
    collectives: dict[str, list[Any]] = {}
    for (call, ranks), group in groupby(made, lambda rule: (rule.call, rule.ranks)):
        told = []
        for rule in group:
            _, total, _ = _known(rule)
            scale = ranks if total else 1
            told.append({"msg_size_min": rule.least * scale, "msg_size_max": (rule.most + 1) * scale - 1,
                         "alg": rule.algorithm})  # fmt: skip
        collectives.setdefault(call, []).append(
            {"comm_size_min": ranks, "comm_size_max": ranks, "rules": told}
        )
    return json.dumps({"collectives": collectives}, indent=2) + "\n"


@dataclass(frozen=True, slots=True)
class Mpich:
    """Selection rules and algorithms built into an MPICH library."""

    selection: dict[str, Any]
    algorithms: frozenset[str]

    @staticmethod
    def of(library: Path) -> Mpich:
        """Read a libmpi.so. Raises HocketError for a library that is not MPICH, or is older than 4."""
        try:
            with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                algorithms = {name.decode() for name in re.findall(rb"algorithm=(MPIR_\w+)\0", data)}
                for found in re.finditer(rb'\{"collective=[^\0]*', data):
                    if b"algorithm=MPIR_Alltoall_intra" in found[0]:
                        return Mpich(json.loads(found[0]), frozenset(algorithms))
        except (OSError, ValueError) as error:
            raise HocketError(f"cannot read the MPI library {library}: {getattr(error, 'strerror', None) or error}",
                              remedy="name the libmpi.so of an MPICH") from None  # fmt: skip
        raise HocketError(f"{library} holds no decisions",
                          remedy="name the libmpi.so of an MPICH from 4.0 on")  # fmt: skip

    def algorithm(self, rule: Rule) -> str:
        begin = f"MPIR_{rule.call.capitalize()}_intra_"
        if begin + rule.algorithm in self.algorithms:
            return begin + rule.algorithm
        known = [name.removeprefix(begin) for name in sorted(self.algorithms) if name.startswith(begin)]
        raise HocketError(f"this MPICH has no {rule.call} called {rule.algorithm}",
                          remedy=f"it has {', '.join(known) or 'none'}")  # fmt: skip


def mpich_json(made: Sequence[Rule], mpich: Mpich) -> str:
    """The file of ``MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE``. It replaces all decisions of the library, so these are
    in it, with the rules before them."""
    told = dict(mpich.selection)
    for call, of_call in groupby(made, lambda rule: rule.call):
        if call not in MPICH:
            raise HocketError(
                f"MPICH's decisions on {call} are not known to Hocket",
                remedy="leave such calls to `hocket run`",
            )
        key = f"collective={call}"
        otherwise = told[key]["comm_type=intra"]
        by_ranks: dict[str, Any] = {}
        for ranks, group in groupby(of_call, lambda rule: rule.ranks):
            sizes: dict[str, Any] = {}
            for rule in group:
                if rule.least > 0:
                    sizes.setdefault(f"avg_msg_size<={rule.least - 1}", otherwise)
                sizes[f"avg_msg_size<={rule.most}"] = {f"algorithm={mpich.algorithm(rule)}": {}}
            sizes["avg_msg_size=any"] = otherwise
            by_ranks.setdefault(f"comm_size<={ranks - 1}", otherwise)
            by_ranks[f"comm_size<={ranks}"] = sizes
            if call == "alltoall":  # in place it goes by other algorithms
                by_ranks[f"comm_size<={ranks}"] = {
                    "is_sendbuf_inplace=yes": otherwise,
                    "is_sendbuf_inplace=no": sizes,
                }
        by_ranks["comm_size=any"] = otherwise
        told[key] = told[key] | {"comm_type=intra": by_ranks}
    return json.dumps(told, indent=1) + "\n"
