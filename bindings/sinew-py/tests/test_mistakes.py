"""Mistakes of newcomers: each is refused with a text that says what to do, or does what was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew_deform as sd

pytestmark = pytest.mark.short


def test_row_vectors_are_refused(arm: sd.Character) -> None:
    player = sd.Player(arm, sd.Graph.from_nodes("skin"))
    moved = np.eye(4)
    moved[:3, 3] = [1, 2, 3]
    for space in ("scene", "local", "skin"):
        with pytest.raises(sd.UsageError, match="column vectors"):
            player.advance_posed(0, moved.T[None], joints="forearm", space=space)
    with pytest.raises(sd.UsageError, match="column vectors"):
        sd.Character.from_arrays("x", [triangle()], [sd.Joint("root", None, moved.T)])


def triangle(**more: Any) -> sd.Mesh:
    return sd.Mesh("t", positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces=[[0, 1, 2]], **more)


def test_one_joint_needs_no_list(arm: sd.Character) -> None:
    player = sd.Player(arm, sd.Graph.from_nodes("skin"))
    forearm = next(joint for joint in arm.joints if joint.name == "forearm")
    player.advance_posed(0, forearm.rest[None], joints="forearm")
    with pytest.raises(sd.UsageError, match="did you mean 'forearm'"):
        player.advance_posed(0, forearm.rest[None], joints="ForeArm")


def test_paths_are_taken_where_objects_are(tmp_path: Path) -> None:
    sd.Graph.from_nodes("skin")
    (tmp_path / "graph.json").write_text(sd.Graph.from_nodes("skin").text)
    player = sd.Player("sample:arm", tmp_path / "graph.json")
    player.advance(0)
    assert sd.Player("sample:arm", "example:bend").outputs
    with pytest.raises(sd.FileError):
        sd.Player("sample:arm", "nowhere.json")
    with pytest.raises(sd.UsageError, match="did you mean 'bend'"):
        sd.Player("sample:arm", "example:bent")


def test_no_clip_is_the_rest_pose(arm: sd.Character) -> None:
    player = sd.Player(arm, sd.Graph.from_nodes("skin"))
    assert player.clip == "bend"
    player.set_clip(None)
    player.advance(25)
    assert player.clip is None
    np.testing.assert_allclose(player["body"].positions(), arm.meshes[0].positions, atol=1e-6)


def test_views_cannot_be_changed(arm: sd.Character) -> None:
    for array in (arm.meshes[0].positions, arm.meshes[0].triangles, arm.joints[0].rest):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9


def test_indices_are_not_names() -> None:
    with pytest.raises(sd.UsageError, match="expected the index of a joint, or None"):
        sd.Joint("b", "a", np.eye(4))  # type: ignore[arg-type]
    with pytest.raises(sd.UsageError, match="found the key 'b'"):
        sd.Clip("c", times=[0], translations={"b": [[0, 0, 0]]})  # type: ignore[dict-item]


def test_wrong_callbacks_are_named(arm: sd.Character, tmp_path: Path) -> None:
    with pytest.raises(sd.UsageError, match="cancel: found True"):
        sd.run(arm, output=tmp_path / "x.npz", cancel=True)  # type: ignore[arg-type]
    with pytest.raises(sd.UsageError, match="progress: found 'x'"):
        sd.run(arm, output=tmp_path / "x.npz", progress="x")  # type: ignore[arg-type]
    with pytest.raises(sd.UsageError, match="expected a path"):
        sd.render(sd.Player(arm))  # type: ignore[arg-type,call-overload]


def test_errors_name_arguments_of_python(arm: sd.Character, tmp_path: Path) -> None:
    output = tmp_path / "x.npz"
    sd.run(arm, output=output, frames=0)
    output.write_text("not an archive")
    with pytest.raises(sd.UsageError, match="force=True") as error:
        sd.run(arm, output=output, frames=0)
    assert "--" not in str(error.value) and error.value.code == "usage"


def test_problems_of_binding_have_a_line(arm: sd.Character) -> None:
    mask = sd.nodes.mask(mesh="body", pose="pose", source="joint", joints=["forearm_left"])
    graph = sd.Graph.from_nodes("skin", outputs={"mask": mask})
    problem = next(p for p in graph.check(arm) if p.severity == "error")
    assert problem.line is not None and '"mask"' in graph.text.splitlines()[problem.line - 1]
    with pytest.raises(sd.BindError, match="did you mean|such as") as error:
        sd.Player(arm, graph)
    assert error.value.line == problem.line
