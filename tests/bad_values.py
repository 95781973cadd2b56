"""Values, files and command lines for tests/bad_input.py: what people write, and what they should not."""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from hocket import _core
from measure.calibration.conftest import made
from mutations import NETWORKS
from plans import small
from report_files import tuned

NUMBERS: Final = (
    "", "0", "-1", "-0", "1", "2", "3.5", "1e3", "1e400", "nan", "inf", "-inf", "٣", "1_0", " 3 ", "+3", "0x10", "½",
    "99999999999999999999", "9" * 400, "9" * 5000, "1,2", "two", "1.", ".5", "1e-400", "4294967296", "2147483647",
)  # fmt: skip
QUANTITIES: Final = (
    *NUMBERS, "64KiB", "1 MB", "1mb", "1XB", "-1KiB", "1e30", "1.5B", "8192PiB", "1/2", "1Gbit", "1GB/s", "0bit", "5us",
    "-5us", "1e300s", "1h", "٣KiB", "auto", "1PiB", "7B", "1kbit", "µs", "5µs",
)  # fmt: skip
TEXTS: Final = (
    "", " ", "-", "--", "-x", "[bold]", "[/bold]", "\x1b[31mred", "\x1b]0;title\x07", "\u202ecba", "\udcff", "é", "😀",
    "a" * 300, "a" * 5000, "two\nlines", "cr\r\n", "tab\t", "%s%n", "{0}", "../..", "~", "$HOME", "*", "'", '"', "\\",
    "a;b", "token", "window:0", "window:99999999999", "window:٣", "barrier", "names", "slurm", "order", "auto", "tree",
    "ring", "mpich", "n0,n1", "n[0-", "n[0-9999999999]", "\x7f", "\x9b1m", "None", "null", "true",
)  # fmt: skip
SHORT_FORMS: Final = (
    "star", "star:", "star:0", "star:-1", "star:4:4", "star:٣", "star:4@", "star:4@1Gbit@2", "star:4*0", "star:2*65537",
    "star:99999999999", "tree:4x", "tree:0x4", "torus:0x0", "torus:4x4x4x4x4x4x4x4x4", "torus:1", "mesh:1", "ring:8",
    "hypercube:40", "fat-tree:k=3", "fat-tree:", "dragonfly:1", "chain:", "chain:,", "chain:1,,2", "chain:3,2,2",
    "star:1", "mesh:3x2", "torus:3", "hypercube:2", "fat-tree:k=4", "star:4*2", "Star:4", "star:4 ", " star:4",
    "star:4;torus:3",
)  # fmt: skip

PLAUSIBLE: Final[dict[str, tuple[str, ...]]] = {
    "SIZE": ("1", "4096", "64KiB", "1MB", "1PiB", "7B", "0"), "TIME": ("0", "5us", "1ms", "10s", "1000000s"),
    "RATE": ("1Gbit", "8kbit", "80Tbit", "125MB/s"), "K[,K…]": ("1", "2,4", "auto", "0.001", "1000"),
    "SIZES": ("8", "8:64", "1K,2K"), "NAME": ("auto", "tree", "ring", "linear", "packing", "list", "cubic", "reno"),
    "HOW": ("names", "slurm", "order", "learn", "model"), "MPI": ("mpich", "openmpi"),
    "token|barrier|window:K|free": ("token", "barrier", "window:1", "window:64", "free"),
}  # fmt: skip
NETWORKS_TRIED: Final = (
    "star:4", "star:3*2", "chain:3,2,2", "torus:3x3", "mesh:3x2", "hypercube:3", "torus:5", "fat-tree:k=4", "star:1",
    "star:2", "tree:2x3", *(str(NETWORKS / name) for name in (
        "figure1.toml", "ties.toml", "two-spines.toml", "ranks.toml", "cluster.xml", "topology.conf", "topology.yaml",
        "flux.json", "mixed-rates.toml", "two-clusters.xml",
    )),
)  # fmt: skip

_COLLECTIVES: Final = (
    "all-to-all", "all-gather", "reduce-scatter", "all-reduce", "broadcast", "reduce", "gather", "scatter",
)  # fmt: skip

# A valid command line of each command, its words for shlex; {net}, … are files that ``Files`` makes.
VALID: Final = {
    "order": "--network {net} --ranks-per-host 2 --for all-gather --format plain",
    "network show": "{net} --bytes 1MiB --rate 1Gbit --latency 5us",
    "network balance": "torus:3x3 -o {new}.toml",
    "network convert": "{net} -o {new}.toml",
    "network discover": "--lldp {lldp} -o {new}.toml --rate 1Gbit",
    "verify": "{plan} --network star:4",
    "simulate": "{plan} --network star:4 --flow token --alpha 1us --token-cost 1us --overhead 1.06",
    "report": "{plan} {net} {table} -o {new}.html --title title",
    "export": "{plan} --to c -o {new} --function-name MPI_Name --flow token",
    "run": "-n 2 --network star:4 --plan {plan} --placement order --flow token {program}",
    "env": "--network star:4 --plan {plan} --program {program}",
    "record": "-o {new}.json mpiexec -n 2 {program}",
    "hocket-sort": "{keys} {new}.npy -n 2 --memory 1MB",
    "doctor": "--network star:4 -n 2 --mpi {launcher} --seconds 1",
    "info": "tree",
    "lab run": "--network star:4 --rate 10Mbit --buffer 60KB --shuffle 1 {program}",
    "lab status": "",
    "lab up": "star:4 --rate 10Mbit --mtu 1500 --cc cubic",
    "calibrate memory": "--show {profile} --evaluate 1C1 --width 8",
    "calibrate network": "--show {calibration}",
    "tune show": "",
    "tune clear": "--place 0123",
    "help": "plan",
    "completion": "bash",
    **{
        f"plan {name}": "--network {net} --bytes 64KiB -o {new}.hkt --algorithm auto --dump {new}.csv"
        for name in _COLLECTIVES
    },
    "plan irregular": "--network star:3 --demand {traffic} --alpha 1us -o {new}.hkt --seed 3",
    **{
        f"bench {name}": "-n 2 --network star:4 --sizes 8:64 --time 0 --csv {new}.csv"
        for name in (*_COLLECTIVES, "irregular")
    },
}  # fmt: skip


@dataclass(slots=True)
class Files:
    """Files of every kind in one folder: paths of good ones by name, and of odd ones."""

    folder: Path
    good: dict[str, str] = field(default_factory=dict)
    odd: list[str] = field(default_factory=list)
    pristine: dict[str, bytes | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lldp = (NETWORKS.parents[1] / "tests/network/recorded/lldp/s1.json").read_bytes()
        table = (NETWORKS.parents[1] / "bench/results/short-lived.csv").read_bytes()
        good = {
            "net": ("net.toml", b'[[switch]]\nname = "s0"\nhosts = ["n[0-3]"]\n'),
            "plan": ("plan.hkt", small()),
            "lldp": ("s1.json", lldp),
            "table": ("table.csv", table),
            "traffic": ("traffic.csv", b"0,64,3\n1,0,2\n4,5,0\n"),
            "profile": ("profile.txt", _core.memory.Profile.built_in().text().encode()),
            "calibration": ("calibration.json", json.dumps(made().as_json()).encode()),
            "keys": ("keys.npy", _npy(np.array([3, 1, 2], dtype=np.int64))),
            "program": ("program", b"#!/bin/sh\nexit 3\n"),
            "launcher": ("mpiexec", b"#!/bin/sh\necho HYDRA build details: Version: 4.2\nexit 3\n"),
            "mtx": ("traffic.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 10\n3 1 7\n"),
            "choices": ("choices.txt", tuned(self.folder / "choices.txt").read_bytes()),
        }
        for name, (file, content) in good.items():
            path = self.folder / file
            path.write_bytes(content)
            self.good[name] = str(path)
        for name in ("program", "launcher"):
            Path(self.good[name]).chmod(0o755)
        (self.folder / "mpicc").write_bytes(b"#!/bin/sh\nexit 3\n")
        (self.folder / "mpicc").chmod(0o755)
        contents = {
            "empty": b"", "zeros": bytes(100), "binary": bytes(range(256)), "blank": b" \n\n", "no-end": b"star:4",
            "utf16.toml": '[[switch]]\nname = "s"\nhosts = ["a", "b"]\n'.encode("utf-16"),
            "bom.toml": b'\xef\xbb\xbf[[switch]]\nname = "s"\nhosts = ["a", "b", "c", "d"]\n',
            "crlf.toml": b'[[switch]]\r\nname = "s"\r\nhosts = ["a", "b", "c", "d"]\r\n',
            "nul.toml": b'[[switch]]\nname = "s\0"\nhosts = ["a", "b"]\n',
            "escape.toml": b'[[switch]]\nname = "s\\u001b[2J"\nhosts = ["[bold]", "\xc2\x9b1m", "*/ int x;", "b c"]\n',
            "names.toml": '[[switch]]\nname = "[bold]"\nhosts = ["é", "[/b]", "\u202ea", "?", "$(x)"]\n'.encode(),
            "many.csv": b"1,2\n" * 300, "loop.conf": b"SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
            "wrong.npy": b"\x93NUMPY\x01\x00v\x00{'descr': '|O'", "list.json": b"[1, 2]",
            "deep.json": b"[" * 5000, "numbers.csv": b"9" * 400, "yaml.yaml": b"a: &a [*a]\n",
        }  # fmt: skip
        for name, content in contents.items():
            (self.folder / name).write_bytes(content)
        (self.folder / "folder").mkdir()
        (self.folder / "loop").symlink_to("loop2")
        (self.folder / "loop2").symlink_to("loop")
        (self.folder / "dangling").symlink_to("nowhere/file")
        (self.folder / "closed").write_bytes(b"x")
        (self.folder / "closed").chmod(0)
        hostile = self.folder / "[bold]\x1b[2J\x07\x9b1m\u202e two\nlines.toml"
        hostile.write_bytes(b"what")
        for bytes_name in (b"\xff\xfe.toml", b"\xff.csv"):
            (self.folder / os.fsdecode(bytes_name)).write_bytes((self.folder / "net.toml").read_bytes())
            self.odd.append(str(self.folder / os.fsdecode(bytes_name)))
        self.odd += [str(self.folder / name) for name in contents]
        self.odd += [str(hostile), *self.good.values()]
        names = (
            "folder",
            "loop",
            "dangling",
            "closed",
            "none",
            "none/none",
            "net.toml/none",
            "loop/none",
            "x" * 300,
        )
        self.odd += [str(self.folder / name) for name in names]
        self.pristine = self.content()
        self.odd += [
            "/dev/null",
            "/dev/full",
            "/",
            "x" * 5000,
            "/proc/self/mem",
            f"{self.folder}/\udcff",
            ".",
        ]

    def restore(self) -> None:
        """Writes again what a case has spoilt or overwritten."""
        for name, content in self.content().items():
            if name in self.pristine and content != self.pristine[name]:
                (self.folder / name).write_bytes(self.pristine[name] or b"")

    def content(self) -> dict[str, bytes | None]:
        """Contents of the folder's files, so that changes are seen."""
        return {
            name: _read(Path(folder) / name) for folder, _, names in os.walk(self.folder) for name in names
        }


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()
