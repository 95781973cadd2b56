"""Outputs of known tools in other forms: the remedy names the option that prints the right one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.errors import NetworkError
from hocket.network.readers.lldp import read_record
from hocket.network.source import Source

Refused = Callable[[str], str]

LLDP = """\
-------------------------------------------------------------------------------
LLDP neighbors:
-------------------------------------------------------------------------------
Interface:    eth0, via: LLDP, RID: 1, Time: 0 day, 00:00:20
  Chassis:
    ChassisID:    mac 02:00:00:00:00:01
    SysName:      s0
"""
KUBERNETES = """\
NAME   STATUS   ROLES    AGE   VERSION
n0     Ready    <none>   12d   v1.30.1
"""
AWS_TABLE = """\
------------------------------
|  DescribeInstanceTopology  |
+----------------------------+
"""
SCONTROL_JSON = '{"topologies": [], "meta": {"plugin": {"data_parser": "data_parser/v0.0.43"}}}'
BANNER = '      CRITERIA\n\'status=up\'\n======\n{"graph": {"nodes": [], "edges": []}}\n'
PORTS = "CA     5  1 0x0002c90300a1b2c3 4x QDR - SW     2  7 0x0002c90200400000 ( 'n1 mlx4_0' - 'leaf' )\n"


@pytest.mark.parametrize(("text", "option"), [
    (LLDP, "lldpctl -f json"),
    ("lldp.eth0.via=LLDP\nlldp.eth0.rid=1\n", "lldpctl -f json"),
    ('<?xml version="1.0" encoding="UTF-8"?>\n<lldp label="LLDP neighbors">\n</lldp>\n', "lldpctl -f json"),
    ('{"lldp": {"interface": []}}', "hocket network discover --lldp FILE..."),
    (KUBERNETES, "kubectl get nodes -o json"),
    ("apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\nkind: List\n", "kubectl get nodes -o json"),
    ("Name:               n0\nRoles:              <none>\n", "kubectl get nodes -o json"),
    ("INSTANCES\ti-1\tp4d.24xlarge\tusw2-az2\nNETWORKNODES\tnn-1\n", "--output json"),
    (AWS_TABLE, "--output json"),
    ("Instances:\n- InstanceId: i-1\n  NetworkNodes:\n  - nn-1\n", "--output json"),
    (SCONTROL_JSON, "scontrol show topology"),
    ("NodeName=n1 Arch=x86_64 CoresPerSocket=8\n", "scontrol show topology"),
    ("PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ndebug* up infinite 2 idle n[1-2]\n", "scontrol show topology"),
    ("     STATE NNODES   NCORES    NGPUS NODELIST\n      free      2       16        0 n[1-2]\n", "--format=jgf"),
    ('{"version": 1, "execution": {"R_lite": [{"rank": "0-1"}]}}', "--format=jgf"),
    (BANNER, "flux ion-resource find -q --format=jgf"),
    (PORTS, "ibnetdiscover without options"),
    ("CA: n1 mlx5_0:\n      0x0002c90300a1b2c3      5    1[  ] ==(  4X  25.78125 Gbps)==>\n", "without options"),
])  # fmt: skip
def test_the_option_that_prints_what_is_read(refused: Refused, text: str, option: str) -> None:
    message = refused(text)
    assert option in message, message


def test_on_the_way_to_discover(tmp_path: Path) -> None:
    with pytest.raises(NetworkError) as caught:
        read_record(Source("n0.json", LLDP))
    assert "is not JSON" in caught.value.what and "lldpctl -f json" in caught.value.remedy


def test_a_large_file_is_looked_at_from_both_ends(refused: Refused) -> None:
    filler = "".join(f"n{host} Ready\n" for host in range(30_000))
    assert "kubectl get nodes -o json" in refused(filler + KUBERNETES)
