"""The forwarding tables that a subnet manager has installed: what ``dump_fts`` prints (infiniband-diags), or
``opensm-lfts.dump``, which ``opensm -D 0x43`` writes.

Messages go to a host's base lid, as MPI libraries send them unless told otherwise. Entries for further lids (lmc > 0)
are kept for who chooses among them."""

import re
from dataclasses import dataclass
from typing import Final

from hocket.errors import NetworkError
from hocket.network.description import NetworkDescription
from hocket.network.parts import MAX_ENTRIES, Fabric, Forwarding
from hocket.network.source import Source, shown

DROPPED: Final = 255  # the port of what is not forwarded
_AGAIN: Final = "record both again, one after the other: ibnetdiscover, dump_fts"
_LAST_LID: Final = (
    "dump_fts leaves out the last lid where it is a multiple of 64: give the file opensm-lfts.dump, which "
    "opensm -D 0x43 writes"
)
_BLOCK: Final = 64  # lids
_ROUTED_AGAIN: Final = f"let the subnet manager route again (its log says why it has not), then {_AGAIN}"
_TABLE: Final = re.compile(
    r"Unicast lids \[[0-9a-fx]+-[0-9a-fx]+\] of switch [^()]{0,400}\bguid 0x([0-9a-f]{1,16})(?: \((.*)\))?:$"
)
_ENTRY: Final = re.compile(r"0x([0-9a-f]{1,4}) (\d{3})(?: (?:: \(|# )(.*))?$")
_PORT_GUID: Final = re.compile(r"\bportguid 0x([0-9a-f]{1,16})")
_END: Final = re.compile(r"(\d{1,6}) (?:valid )?lids dumped$")
_HEADS: Final = re.compile(r"Lid +Out +Destination$|Port +Info$")


def sniff(source: Source) -> bool:
    return source.is_file and re.search(r"^Unicast lids \[", source.text, re.MULTILINE) is not None


def read_tables(source: Source, network: NetworkDescription) -> Forwarding:
    """The tables of a network that ``ibnetdiscover`` has listed.

    Raises :class:`NetworkError` for tables that are cut off or of another network, for hosts without a lid, and where a
    switch does not hand over to its own hosts. Whether all messages arrive is the core's to say."""
    if network.fabric is None:
        raise source.error(
            "these tables go by lids and ports, which the network file does not have",
            remedy="give as --network what ibnetdiscover prints",
        )
    for host, lid in network.fabric.host_lids.items():
        if not lid:
            where = network.nodes[host].where
            raise NetworkError(
                f"host {shown(network.nodes[host].name)} has no lid", where=where, remedy=_ROUTED_AGAIN
            )
    return _Reader(source, network, network.fabric).read()


@dataclass(slots=True)
class _Table:
    """Forwarding table of one switch; ``node`` is None for a switch that no message of the hosts passes."""

    node: int | None
    name: str
    line: int
    count: int = 0


class _Reader:
    def __init__(self, source: Source, network: NetworkDescription, fabric: Fabric) -> None:
        self.source, self.network, self.fabric = source, network, fabric
        self.result = Forwarding(source.name, remedy_missing=_ROUTED_AGAIN, remedy_circle=_ROUTED_AGAIN)
        self.seen: dict[tuple[int, int], int] = {}  # the line of (switch, host)
        self.further: set[tuple[int, int]] = set()  # (switch, lid)
        self.tables: dict[int, int] = {}  # by guid, with those of other switches
        self.index = network.name_indices()

    def read(self) -> Forwarding:
        table: _Table | None = None
        line = 0
        for line, whole in enumerate(self.source.text.split("\n"), 1):
            if not (text := whole.strip()) or _HEADS.match(text):
                continue
            if (match := _ENTRY.match(text)) is not None and table is not None:
                table.count += 1
                self._entry(table, line, match)
            elif (match := _END.match(text)) is not None and table is not None:
                if int(match[1]) != table.count:
                    raise self.source.error(
                        f"the table of {table.name} has {table.count} lids here, not {match[1]}", line, _AGAIN
                    )
                table = None
            elif (match := _TABLE.match(text)) is not None and table is None:
                table = self._table(line, match)
            elif table is not None and text.startswith("Unicast lids"):
                raise self._cut_off(table, line)
            else:
                raise self._no_line(line, text)
        if table is not None:
            raise self._cut_off(table, line)
        self._check_hosts()
        return self.result

    def _table(self, line: int, match: re.Match[str]) -> _Table:
        guid, name = int(match[1], 16), (match[2] or f"guid 0x{match[1]}").strip("'")
        if (first := self.tables.setdefault(guid, line)) != line:
            raise self.source.error(
                f"the table of {shown(name)} stands twice, first in line {first}", line,
                "give the output of one dump_fts",
            )  # fmt: skip
        if (node := self.fabric.switches.get(guid)) is None and guid not in self.fabric.guids:
            raise self.source.error(
                f"no switch of {self.network.source} has the guid 0x{guid:016x} ({shown(name)})", line, _AGAIN
            )
        if node is not None:
            self.result.tables[node] = line
        return _Table(node, shown(name), line)

    def _entry(self, table: _Table, line: int, match: re.Match[str]) -> None:
        lid, out = int(match[1], 16), int(match[2])
        known = self.fabric.lids.get(lid)
        if table.node is None or out == DROPPED:
            return
        if known is None:
            self._further_entry(table.node, lid, out, line)
            return
        host, guid = known
        name = shown(self.network.nodes[host].name)
        if (told := _PORT_GUID.search(match[3] or "")) and guid and int(told[1], 16) != guid:
            raise self.source.error(
                f"lid {lid} is here a port with guid 0x{told[1]}, but that of host {name} in {self.network.source}",
                line,
                _AGAIN,
            )
        if (channel := self.fabric.ports.get((table.node, out))) is None:
            raise self.source.error(
                f"{table.name} sends to host {name} (lid {lid}) by its port {out}, from which no cable leads to a "
                f"switch or host that is planned for in {self.network.source}", line, _ROUTED_AGAIN,
            )  # fmt: skip
        beyond = self._beyond(channel)
        if self.network.nodes[beyond].is_host and beyond != host:
            other = shown(self.network.nodes[beyond].name)
            raise self.source.error(
                f"{table.name} hands messages to host {name} (lid {lid}) over to host {other}", line,
                _ROUTED_AGAIN,
            )  # fmt: skip
        if (first := self.seen.setdefault((table.node, host), line)) != line:
            raise self.source.error(
                f"{table.name} has an entry for lid {lid} already, in line {first}", line,
                "give the output of one dump_fts",
            )  # fmt: skip
        if len(self.result.hops) == MAX_ENTRIES:
            raise self._too_many(line)
        self.result.hops.append((table.node, host, channel))
        self.result.lines.append(line)

    def _further_entry(self, node: int, lid: int, out: int, line: int) -> None:
        """Entry for a lid that is no host's base lid. Only who chooses it finds out whether messages arrive."""
        host, number = self.fabric.further_lids.get(lid, (0, 0))
        channel = self.fabric.ports.get((node, out))
        if not number or channel is None or (node, lid) in self.further:
            return
        self.further.add((node, lid))
        if len(self.result.hops) + len(self.further) > MAX_ENTRIES:
            raise self._too_many(line)
        self.result.further.setdefault(number, []).append((node, host, channel))

    def _too_many(self, line: int) -> NetworkError:
        return self.source.error(
            f"more than {MAX_ENTRIES:,} entries for hosts", line, "record a part of the fabric"
        )

    def _beyond(self, channel: int) -> int:
        link = self.network.links[channel // 2]
        return self.index[link.a if channel % 2 else link.b]

    def _check_hosts(self) -> None:
        """A switch without an entry drops messages even if the host is wired to it."""
        for (node, _), channel in sorted(self.fabric.ports.items()):
            beyond = self._beyond(channel)
            if not self.network.nodes[beyond].is_host or self.network.nodes[node].is_host:
                continue
            if (node, beyond) in self.seen:
                continue
            switch, host = shown(self.network.nodes[node].name), shown(self.network.nodes[beyond].name)
            line, lid = self.result.tables.get(node, 0), self.fabric.host_lids[beyond]
            what = f"the table of {switch} has no entry for lid {lid} of host {host}"
            if not line:
                what = f"holds no table of {switch}, to which host {host} is wired"
            cut = line and lid % _BLOCK == 0 and lid == max(self.fabric.host_lids.values())
            raise self.source.error(
                f"{what}: messages do not arrive", line, _LAST_LID if cut else _ROUTED_AGAIN
            )

    def _cut_off(self, table: _Table, line: int) -> NetworkError:
        return self.source.error(
            f"the table of {table.name} (line {table.line}) is cut off: 'lids dumped' does not end it",
            line,
            _AGAIN,
        )

    def _no_line(self, line: int, text: str) -> NetworkError:
        if text.startswith("Multicast"):
            return self.source.error("this is a table of multicasts", line, "run dump_fts without -M")
        return self.source.error(
            f"{shown(text)} is not a line of dump_fts, or is cut off", line,
            f"leave standard error out of the file; {_AGAIN}",
        )  # fmt: skip
