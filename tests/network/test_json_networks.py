"""AWS's instance topology, Flux's resource graphs, and Kubernetes' nodes as topograph labels them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from hocket.network import NetworkDescription

Describe = Callable[[str], NetworkDescription]
Refused = Callable[[str], str]

AWS: dict[str, Any] = {
    "Instances": [
        {"InstanceId": f"i-{host}", "InstanceType": "p4d.24xlarge", "NetworkNodes": nodes, "ZoneId": "usw2-az2"}
        for host, nodes in enumerate(
            (["nn-1", "nn-2", "nn-4"], ["nn-1", "nn-2", "nn-4"], ["nn-1", "nn-3", "nn-5"], ["nn-1", "nn-2", "nn-6"])
        )
    ]
}  # fmt: skip


def vertex(number: int, kind: str, path: str) -> dict[str, Any]:
    metadata = {"type": kind, "name": path.rsplit("/", 1)[1], "paths": {"containment": path}, "rank": -1}
    return {"id": str(number), "metadata": metadata}


JGF: dict[str, Any] = {
    "graph": {
        "nodes": [
            vertex(0, "cluster", "/tiny0"),
            *(vertex(1 + rack, "rack", f"/tiny0/rack{rack}") for rack in range(3)),
            *(vertex(10 + host, "node", f"/tiny0/rack{host // 2}/node{host}") for host in range(4)),
            *(vertex(20 + host, "core", f"/tiny0/rack{host // 2}/node{host}/core0") for host in range(4)),
        ],
        "edges": [
            *({"source": "0", "target": str(1 + rack), "metadata": {"subsystem": "containment"}} for rack in range(3)),
            *({"source": str(1 + host // 2), "target": str(10 + host)} for host in range(4)),
            *({"source": str(10 + host), "target": str(20 + host)} for host in range(4)),
            *({"source": str(20 + host), "target": str(10 + host), "metadata": {"name": {"containment": "in"}}}
              for host in range(4)),
        ],
    }
}  # fmt: skip


def way(network: Any, src: int, dst: int) -> list[str]:
    return [network.channel_name(channel).split("->")[1] for channel in network.route(src, dst)]


def test_network_nodes_of_instances(describe: Describe) -> None:
    description = describe(json.dumps(AWS, indent=4))
    network = description.build()
    assert [host.name for host in description.hosts] == ["i-0", "i-1", "i-2", "i-3"]
    assert way(network, 0, 1) == ["nn-4", "i-1"]
    assert way(network, 0, 3) == ["nn-4", "nn-2", "nn-6", "i-3"]
    assert way(network, 0, 2) == ["nn-4", "nn-2", "nn-1", "nn-3", "nn-5", "i-2"]
    assert not any(link.rate_given for link in description.links)
    assert description.hosts[0].where is not None and description.hosts[0].where.line == 4


def test_two_spines_meet_in_a_root(describe: Describe) -> None:
    text = json.dumps(AWS).replace('["nn-1", "nn-3"', '["nn-9", "nn-3"')
    assert way(describe(text).build(), 0, 2)[2:5] == ["nn-1", "root", "nn-9"]


def test_what_holds_hosts(describe: Describe) -> None:
    description = describe(json.dumps(JGF))
    network = description.build()
    assert [node.name for node in description.nodes if not node.is_host] == [
        "/tiny0/rack0", "/tiny0", "/tiny0/rack1",
    ]  # fmt: skip
    assert way(network, 0, 3) == ["/tiny0/rack0", "/tiny0", "/tiny0/rack1", "node3"]


@pytest.mark.parametrize(("text", "says"), [
    (json.dumps(AWS)[:-5], "is not JSON"),
    (json.dumps(AWS).replace('"InstanceId": "i-1"', '"InstanceId": ""'), "an entry has no InstanceId"),
    (json.dumps(AWS).replace('["nn-1", "nn-3", "nn-5"]', "[]"), "'i-2' has no NetworkNodes"),
    (json.dumps(AWS).replace('"nn-3", "nn-5"', '"nn-3", "nn-4"'), "'nn-4' lies below 'nn-2' and below 'nn-3'"),
    (json.dumps(AWS).replace("i-1", "i-0"), "host 'i-0' is defined twice"),
    ('{"Instances": [], "a": {"NetworkNodes": 1}}', "lists no instance"),
    ('{"Instances": 3, "NetworkNodes": 1}', "Instances is not a list of objects"),
    ('{"NetworkNodes": ' + "[" * 100_000, "JSON is nested too deeply"),
    ('{"NetworkNodes": ' + "9" * 5000 + "}", "JSON has a number of thousands of digits"),
    (json.dumps(JGF).replace('"node"', '"socket"'), "holds no vertex of type node"),
    (json.dumps(JGF).replace('"target": "13"', '"target": "99"'), "names the vertex '99', which is not listed"),
    (json.dumps(JGF).replace('"source": "2", "target": "13"', '"source": "2", "target": "11"'), "in '1' and in '2'"),
    (json.dumps(JGF).replace('"node3"', '"node2"'), "host 'node2' is defined twice"),
    ('{"graph": {}}', "nodes is not a list of objects"),
    (json.dumps(JGF) + "\n" + json.dumps(JGF), "2: a second JSON document begins here"),
    (json.dumps(AWS) + '\n{"Inst', "2: is not JSON"),
])  # fmt: skip
def test_mistakes(refused: Refused, text: str, says: str) -> None:
    assert says in refused(text)


def nodes(*labels: dict[str, str]) -> str:
    items = [
        {"kind": "Node", "metadata": {"name": f"n{host}", "labels": own}} for host, own in enumerate(labels)
    ]
    return json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}, indent=1)


def tiers(*switches: str) -> dict[str, str]:
    return {f"fabric.topograph.run/tier-{tier}": switch for tier, switch in enumerate(switches)}


def named(*switches: str) -> dict[str, str]:
    words = ("leaf", "spine", "core")
    return {
        f"network.topology.nvidia.com/{word}": switch for word, switch in zip(words, switches, strict=False)
    }


@pytest.mark.parametrize("labels", [tiers, named])
def test_labels_of_topograph(describe: Describe, labels: Callable[..., dict[str, str]]) -> None:
    own = [labels("a", "s", "c"), labels("a", "s", "c"), {"os": "linux"}, labels("b", "t", "c")]
    description = describe(nodes(*own))
    assert [host.name for host in description.hosts] == ["n0", "n1", "n3"]
    assert description.notes == ["left out, without labels of topograph: 1 of the nodes (n2)"]
    network = description.build()
    assert way(network, 0, 1) == ["a", "n1"] and way(network, 0, 2) == ["a", "s", "c", "t", "b", "n3"]
    assert not any(link.rate_given for link in description.links)


def test_two_trees_of_labels_get_a_root(describe: Describe) -> None:
    network = describe(nodes(tiers("a", "s"), tiers("b", "t"))).build()
    assert way(network, 0, 1) == ["a", "s", "root", "t", "b", "n1"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (nodes({}, {"os": "linux"}), "no node has labels"),
        (nodes(tiers("a", "s"), tiers("a", "t")), "switch 'a' lies below 's' and below 't'"),
        (
            nodes({"fabric.topograph.run/tier-1": "s"}),
            "'n0' has a label of a switch and none of the one below it",
        ),
        (nodes(tiers("a", "")), "an empty one"),
        ('{"items": [{"kind": "Node"}]}', "an item has no metadata"),
        ('{"items": [1]}', "items is not a list of objects"),
        (nodes(tiers("a", "s"))[:-30], "is not JSON"),
    ],
)
def test_labels_that_tell_no_tree(refused: Refused, text: str, says: str) -> None:
    assert says in refused(text)


def halves(whole: dict[str, Any], key: str, **cursor: Any) -> tuple[str, str]:
    """Two pages of an answer; ``cursor`` is what tells on the first that there is a second."""
    middle = len(whole[key]) // 2
    return (
        json.dumps({**whole, key: whole[key][:middle], **cursor}, indent=2),
        json.dumps({**whole, key: whole[key][middle:]}, indent=2),
    )


NODES: dict[str, Any] = json.loads(nodes(tiers("a", "s"), tiers("a", "s"), tiers("b", "s"), tiers("b", "s")))


@pytest.mark.parametrize(("whole", "key", "cursor", "named", "option"), [
    (AWS, "Instances", {"NextToken": "eyJOZXh0VG9rZW4iOiBudWxs"}, "NextToken", "without --max-items and --no-paginate"),
    (NODES, "items", {"metadata": {"continue": "eyJ2Ijoi", "remainingItemCount": 2}}, "continue",
     "kubectl get nodes -o json"),
])  # fmt: skip
def test_pages_of_an_answer(
    describe: Describe, refused: Refused,
    whole: dict[str, Any], key: str, cursor: dict[str, Any], named: str, option: str,
) -> None:  # fmt: skip
    """One page is refused, and two in the wrong order, as the next may be missing; all of them are the whole."""
    first, second = halves(whole, key, **cursor)
    for text in (first, second + first):
        message = refused(text)
        line = int(message.partition(":")[0])
        assert f'"{named}"' in text.split("\n")[line - 1]
        assert (
            f"is incomplete: {named} tells of a further page; give all pages" in message and option in message
        )
    together, joined = describe(json.dumps(whole)), describe(first + "\n" + second)
    assert [(node.name, node.ranks) for node in joined.nodes] == [
        (node.name, node.ranks) for node in together.nodes
    ]
    assert [(link.a, link.b) for link in joined.links] == [(link.a, link.b) for link in together.links]
    emptied = {**whole, **{each: {"continue": ""} if each == "metadata" else None for each in cursor}}
    assert len(describe(json.dumps(emptied)).hosts) == 4


def test_a_resource_set_with_its_graph(describe: Describe) -> None:
    """Flux keeps R of an instance like that; its ``scheduling`` is the graph."""
    resources = {"version": 1, "execution": {"R_lite": [{"rank": "0-3"}]}, "scheduling": JGF}
    assert [host.name for host in describe(json.dumps(resources)).hosts] == [
        f"node{host}" for host in range(4)
    ]
