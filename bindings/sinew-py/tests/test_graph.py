"""Documents from nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew_deform as sd
from sinew_deform.graph import document

pytestmark = pytest.mark.short


def built(*stack: Any, **more: Any) -> dict[str, Any]:
    text = sd.Graph.from_nodes(*stack, **more).text
    out: dict[str, Any] = json.loads(text)
    return out


def test_a_stack_has_only_what_is_given() -> None:
    assert built("skin", sd.nodes.delta_mush(iterations=8)) == {
        "sinew": "1.0",
        "stack": ["skin", {"node": "delta_mush", "iterations": 8}],
    }


def test_parameters_have_the_type_that_the_node_expects() -> None:
    blend = sd.param("blend", default=1, min=0, max=1, doc="Share.")
    passes = sd.param("passes", default=4)
    out = built("skin", sd.nodes.delta_mush(iterations=passes, blend=blend))
    assert out["stack"][1] == {"node": "delta_mush", "iterations": "$passes", "blend": "$blend"}
    assert out["parameters"] == {
        "blend": {"type": "float", "default": 1, "min": 0, "max": 1, "doc": "Share."},
        "passes": {"type": "int", "default": 4, "setup": True},
    }


def test_links_by_object_name_the_node() -> None:
    mask = sd.nodes.mask(mesh="body", pose="pose", source="joint", joints=["forearm"])
    out = built("skin", sd.nodes.delta_mush(mask=mask), sd.nodes.smooth(mask=mask))
    assert out["nodes"] == {
        "mask": {"node": "mask", "mesh": "body", "pose": "pose", "source": "joint", "joints": ["forearm"]}
    }
    assert [step["mask"] for step in out["stack"][1:]] == ["mask", "mask"]


def test_named_nodes_outputs_and_ports() -> None:
    elbow = sd.nodes.joint_transform(pose="pose", joint="forearm")
    out = built(
        skin=sd.nodes.skin(mesh="body", pose="pose"),
        swollen=sd.nodes.taper(mesh="skin", curve=sd.link(elbow["swing"].target, "swing", remap=[(0, 0), (2.4, 0.5)])),
        outputs={"body": "swollen", "angle": elbow["swing"]},
    )
    assert out["nodes"]["swollen"]["curve"] == {"link": "joint_transform.swing", "remap": [[0, 0], [2.4, 0.5]]}
    assert out["outputs"] == {"body": "swollen", "angle": "joint_transform.swing"}
    assert set(out["nodes"]) == {"skin", "swollen", "joint_transform"}


def test_steps_that_something_links_to_have_names() -> None:
    skin = sd.nodes.skin()
    out = built(skin, sd.nodes.delta_mush(), outputs={"body": "delta_mush", "plain": skin})
    assert out["stack"][0] == {"node": "skin", "name": "skin"}
    second = sd.nodes.smooth()
    out = built("smooth", second, outputs={"body": second})
    assert out["stack"][1]["name"] == "smooth_2"


def test_keys_arrays_and_matrices() -> None:
    matrix = np.eye(4)
    matrix[:3, 3] = [1, 2, 3]
    out = built(
        sd.nodes.bend(angle_degrees=sd.keys((0, 0), (0.5, 60), interpolation="smooth"), length=np.float32(0.5)),
        sd.nodes.transform(transform=matrix),
        sd.nodes.lattice(size=np.array([1.0, 2.0, 3.0])),
        inputs={"body": "mesh"},
    )
    bend, moved, lattice = out["stack"]
    assert bend == {"node": "bend", "length": 0.5, "angle_degrees": {"keys": [[0, 0], [0.5, 60]], "interpolation": "smooth"}}
    assert moved["transform"] == {"matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 2, 3, 1]}
    assert lattice["size"] == [1, 2, 3]
    assert out["inputs"] == {"body": {"type": "mesh"}}


def test_words_of_python_lose_their_underscore() -> None:
    out = built("skin", sd.nodes.direct_delta_mush(lambda_=2.0), m=sd.nodes.mask(mesh="body", with_="other"))
    assert out["stack"][1] == {"node": "direct_delta_mush", "lambda": 2.0}
    assert out["nodes"]["m"]["with"] == "other"


def test_one_parameter_at_two_nodes_and_two_declarations() -> None:
    amount = sd.param("amount", default=0.5)
    out = built(sd.nodes.smooth(weight=amount), sd.nodes.delta_mush(weight=amount))
    assert out["parameters"] == {"amount": {"type": "float", "default": 0.5}}
    with pytest.raises(sd.UsageError, match="two declarations"):
        built(sd.nodes.smooth(weight=amount), sd.nodes.delta_mush(weight=sd.param("amount", default=1.0)))


def test_two_nodes_of_one_name_are_refused() -> None:
    with pytest.raises(sd.UsageError, match="two nodes have the name 'a'"):
        built(sd.nodes.smooth(name="a"), sd.nodes.smooth(name="a"))
    node = sd.nodes.smooth()
    with pytest.raises(sd.UsageError, match="used twice"):
        built(node, node)


def test_every_node_has_a_function_and_every_key() -> None:
    for node in json.loads(sd.node_list())["nodes"]:
        function = getattr(sd.nodes, node["name"])
        taken = set(function.__annotations__) - {"return", "name"}
        keys = {i["name"] for i in node["inputs"]} | {p["name"] for p in node["parameters"]}
        keys |= {f"{p['name']}_degrees" for p in node["parameters"] if p.get("unit") == "rad"}
        keys |= {"preset"} if node["presets"] else set()
        assert {name.rstrip("_") for name in taken} == keys


def test_documents_from_dictionaries_and_files(tmp_path: Path) -> None:
    given = {"sinew": "1.0", "stack": ["skin", {"node": "delta_mush", "iterations": np.int64(3)}]}
    graph = sd.Graph.from_dict(given)
    assert json.loads(graph.text) == {"sinew": "1.0", "stack": ["skin", {"node": "delta_mush", "iterations": 3}]}
    file = tmp_path / "graph.json"
    file.write_text(graph.text)
    assert sd.Graph.load(file).text == graph.text
    assert document(["skin"]) == {"sinew": "1.0", "stack": ["skin"]}


def test_the_interface_of_a_graph() -> None:
    graph = sd.Graph.from_nodes("skin", sd.nodes.delta_mush(weight=sd.param("mush", default=0.5, doc="Share.")))
    assert graph.outputs == ["body"]
    assert set(graph.inputs) == {"body", "pose"}
    assert graph.parameters["mush"]["default"] == 0.5
    assert graph.parameters["mush"]["doc"] == "Share."
    assert "delta_mush" in graph.explain()


def test_check_lists_problems(arm: sd.Character) -> None:
    wrong = sd.Graph.from_text('{\n  "sinew": "1.0",\n  "stack": ["skin", {"node": "delta_mush", "iteratons": 3}]\n}')
    problem = wrong.check()[0]
    assert (problem.severity, problem.line) == ("error", 3)
    assert problem.help is not None and "iterations" in problem.help + problem.message
    no_joint = sd.Graph.from_nodes("skin", sd.nodes.smooth(mask=sd.nodes.mask(mesh="body", pose="pose", source="joint", joints=["tail"])))
    assert no_joint.check() == []
    assert any("tail" in p.message for p in no_joint.check(arm))


def test_templates_fit_the_character(arm: sd.Character) -> None:
    graph = sd.Graph.template(arm, "driver", "forearm")
    assert "forearm" in graph.text
    assert sd.Graph.embedded(arm) is None
    assert sd.Graph.default_for(arm).outputs == ["body"]
