"""Characters from arrays."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SHARED, skip, triangle

import sinew_deform as sd

SKIN = sd.Graph.from_nodes("skin")


def rotated(degrees: float) -> np.ndarray:
    """About Z."""
    a = np.radians(degrees)
    out = np.eye(4)
    out[:2, :2] = [[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]
    return out


@pytest.mark.short
def test_lists_and_other_types_are_converted() -> None:
    mesh = sd.Mesh("m", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles=np.array([[0, 1, 2]], dtype=np.int64))
    assert mesh.positions.dtype == np.float32 and mesh.triangles.dtype == np.uint32
    turned = np.asfortranarray(np.arange(9, dtype=np.float64).reshape(3, 3))
    assert sd.Mesh("m", turned, faces=[[0, 1, 2]]).positions.flags.c_contiguous


@pytest.mark.short
def test_polygons_keep_their_corners() -> None:
    square = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0]]
    mesh = sd.Mesh("m", square, faces=[[0, 1, 2, 3], [1, 4, 2]])
    assert mesh.face_counts.tolist() == [4, 3]
    assert mesh.face_corners.tolist() == [0, 1, 2, 3, 1, 4, 2]
    made = sd.Character.from_arrays("m", [mesh])
    assert made.meshes[0].triangles.shape == (3, 3)
    assert made.meshes[0].vertex_count == 5


@pytest.mark.short
@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"positions": [[0, 0], [1, 1]]}, "(2, 2)"),
        ({"positions": [["a", "b", "c"]]}, "numbers"),
        ({"positions": [[0, 0, 0]], "normals": [[0, 1, 0], [0, 1, 0]]}, "(2, 3)"),
        ({"positions": [[0, 0, 0]], "triangles": [[0, 0, -1]]}, "-1"),
        ({"positions": [[0, 0, 0]], "triangles": [[0, 0, 0.5]]}, "0.5"),
        ({"positions": [[0, 0, 0]], "triangles": [[0, 0, 0]], "faces": [[0, 0, 0]]}, "only one"),
        ({"positions": [[0, 0, 0]], "joint_indices": [[0]]}, "together"),
        ({"positions": [[0, 0, 0]], "attributes": {"mask": [[[1.0]]]}}, "(1, 1, 1)"),
    ],
)
def test_wrong_arrays_are_refused(arguments: dict[str, object], found: str) -> None:
    with pytest.raises(sd.UsageError, match=r".") as error:
        sd.Mesh("m", **arguments)  # type: ignore[arg-type]
    assert found in str(error.value)


@pytest.mark.short
def test_an_index_out_of_range_names_its_array() -> None:
    mesh = sd.Mesh("m", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles=[[0, 1, 3]])
    with pytest.raises(sd.UsageError) as error:
        sd.Character.from_arrays("c", [mesh])
    assert error.value.location is not None
    assert "3" in str(error.value)


def test_what_goes_in_comes_out() -> None:
    mesh = sd.Mesh(
        "m",
        [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        triangles=[[0, 1, 2]],
        normals=[[0, 0, 1]] * 3,
        uvs=[[[0, 0], [1, 0], [0, 1]]],
        colors=[[[1, 0, 0, 1]] * 3],
        attributes={"mask": [0, 0.5, 1], "flow": [[1, 2, 3]] * 3},
        targets=[sd.Target("smile", [[0, 0, 1]], vertices=[1])],
    )
    view = sd.Character.from_arrays("c", [mesh]).meshes[0]
    assert view.targets == ["smile"]
    assert view.normals is not None and view.normals.tolist() == [[0, 0, 1]] * 3
    assert view.uvs[0].tolist() == [[0, 0], [1, 0], [0, 1]]
    assert view.colors[0].tolist() == [[1, 0, 0, 1]] * 3
    assert view.attributes["mask"].tolist() == [0, 0.5, 1]
    assert view.attributes["flow"].shape == (3, 3)
    assert view.influences is None and view.strand_counts is None


def test_strands_keep_counts_and_guides() -> None:
    hair = sd.Strands("hair", np.zeros((8, 3)) + np.arange(8)[:, None], [3, 3, 2], guides=[0, 0, 2])
    view = sd.Character.from_arrays("c", [], strands=[hair]).strands[0]
    assert view.strand_counts is not None and view.strand_counts.tolist() == [3, 3, 2]
    assert view.guides is not None and view.guides.tolist() == [0, 0, 2]


@pytest.mark.parametrize("space", ["scene", "local", "skin"])
def test_a_pose_rotates_the_vertices_of_its_joint(small: sd.Character, space: str) -> None:
    """Closed form: 90 degrees about the joint at (0, 2, 0)."""
    player = sd.Player(small, SKIN)
    bind = small.joints[1].rest
    scene = bind @ rotated(90)
    matrices = {"scene": scene, "local": scene, "skin": scene @ np.linalg.inv(bind)}[space]
    player.advance_posed(0, matrices[None], ["top"], space)  # type: ignore[arg-type]
    expected = [[0, 0, 0], [0, 3, 0], [0, 2, 1]]
    np.testing.assert_allclose(player["body"].positions(), expected, atol=1e-6)


def test_matrices_of_any_layout_are_read_by_their_indices(small: sd.Character) -> None:
    """A transposed view of row vectors is what hosts give."""
    player = sd.Player(small, SKIN)
    row_vectors = (small.joints[1].rest @ rotated(90)).T.copy()
    player.advance_posed(0, row_vectors.T[None], ["top"])
    np.testing.assert_allclose(player["body"].positions(), [[0, 0, 0], [0, 3, 0], [0, 2, 1]], atol=1e-6)


def test_children_follow_a_posed_parent(small: sd.Character) -> None:
    player = sd.Player(small, SKIN)
    moved = np.eye(4)
    moved[:3, 3] = [5, 0, 0]
    player.advance_posed(0, moved[None], ["root"])
    np.testing.assert_allclose(player["body"].positions(), [[5, 0, 0], [6, 2, 0], [5, 2, 1]], atol=1e-6)


def test_a_clip_moves_joints() -> None:
    clip = sd.Clip("slide", [0, 1], translations={0: [[0, 0, 0], [3, 0, 0]]})
    player = sd.Player(triangle(clips=[clip]), SKIN, fps=10)
    player.advance(5)
    np.testing.assert_allclose(player["body"].positions()[0], [1.5, 0, 0], atol=1e-6)


def test_a_clip_moves_targets() -> None:
    target = sd.Target("grow", [[0, 0, 2.0]], vertices=[2])
    mesh = sd.Mesh("m", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces=[[0, 1, 2]], targets=[target])
    clip = sd.Clip("grows", [0, 1], weights={0: [[0], [1]]})
    player = sd.Player(sd.Character.from_arrays("c", [mesh], clips=[clip]), sd.Graph.from_nodes("morph"), fps=4)
    player.advance(1)
    np.testing.assert_allclose(player["body"].positions()[2], [0, 1, 0.5], atol=1e-6)


def rebuilt(character: sd.Character) -> sd.Character:
    """The same meshes and joints, by way of arrays."""
    joints = []
    for joint in character.joints:
        parent = joint.parent
        above = np.eye(4) if parent is None else character.joints[parent].rest
        joints.append(sd.Joint(joint.name, parent, np.linalg.inv(above) @ joint.rest))
    return sd.Character.from_arrays("rebuilt", [rebuilt_mesh(m) for m in character.meshes], joints)


def rebuilt_mesh(mesh: sd.MeshView) -> sd.Mesh:
    indices = weights = None
    if mesh.influences is not None:
        offsets, joints, values = mesh.influences
        counts = np.diff(offsets.astype(np.int64))
        shape = (mesh.vertex_count, int(counts.max()))
        used = np.arange(shape[1]) < counts[:, None]
        indices, weights = np.zeros(shape, np.uint32), np.zeros(shape, np.float32)
        indices[used], weights[used] = joints, values
    return sd.Mesh(
        mesh.name, mesh.positions, triangles=mesh.triangles, normals=mesh.normals, joint_indices=indices, joint_weights=weights
    )


def compare(character: sd.Character, frame: int) -> None:
    """The arrays deform as the file, in the pose that the file's clip has."""
    graph = sd.Graph.from_nodes("skin", sd.nodes.delta_mush(iterations=5))
    # A node without drivers: the pose as it comes in.
    pose = sd.Graph.from_nodes(same=sd.nodes.drive_joints(pose="pose"), outputs={"pose": "same"})
    posed = sd.Player(character, pose)
    posed.seek(frame)
    matrices = posed["pose"].pose()
    of_file, of_arrays = sd.Player(character, graph), sd.Player(rebuilt(character), graph)
    of_file.seek(frame)
    of_arrays.advance_posed(frame, matrices)
    expected = of_file["body"].positions()
    moved = np.abs(expected - np.concatenate([m.positions for m in character.meshes])).max()
    assert moved > 0.01
    np.testing.assert_allclose(of_arrays["body"].positions(), expected, atol=1e-5)


def test_arrays_deform_as_the_sample() -> None:
    compare(sd.Character.sample("creature"), 12)


def test_arrays_deform_as_the_file() -> None:
    files = sorted(SHARED.glob("characters/**/*male*.glb"))
    if not files:
        skip("../shared/data has no male")
    character = sd.load(files[0])
    if not character.clips:
        skip("the male has no clip")
    compare(character, 10)


def with_extension(glb: bytes, extension: dict[str, Any]) -> bytes:
    """The file with an extension of the document: header, JSON chunk, all other chunks."""
    (length,) = struct.unpack_from("<I", glb, 12)
    document = json.loads(glb[20 : 20 + length])
    document["extensions"] = extension
    document["extensionsUsed"] = [*document.get("extensionsUsed", []), *extension]
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = glb[20 + length :]
    return struct.pack("<4sII", b"glTF", 2, 20 + len(text) + len(rest)) + struct.pack("<I4s", len(text), b"JSON") + text + rest


def test_expressions_of_an_avatar_move_targets(tmp_path: Path) -> None:
    """Half of an expression that binds a target of 2 m to 0.5 moves a vertex by half a metre."""
    target = sd.Target("smile", [[0, 0, 2.0]], vertices=[2])
    mesh = sd.Mesh("face", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces=[[0, 1, 2]], targets=[target])
    glb, vrm = tmp_path / "face.glb", tmp_path / "face.vrm"
    sd.convert(sd.Character.from_arrays("face", [mesh]), output=glb)
    (length,) = struct.unpack_from("<I", glb.read_bytes(), 12)
    nodes = json.loads(glb.read_bytes()[20 : 20 + length])["nodes"]
    bind = {"node": next(i for i, n in enumerate(nodes) if "mesh" in n), "index": 0, "weight": 0.5}
    happy = {"preset": {"happy": {"morphTargetBinds": [bind]}}}
    humanoid: dict[str, Any] = {"humanBones": {}}
    avatar = {"VRMC_vrm": {"specVersion": "1.0", "humanoid": humanoid, "expressions": happy}}
    vrm.write_bytes(with_extension(glb.read_bytes(), avatar))
    character = sd.load(vrm)
    assert character.expressions == ["happy"]
    player = sd.Player(character, sd.Graph.from_nodes("morph"))
    player.set_expression("happy", 0.5)
    player.advance(0)
    np.testing.assert_allclose(player["body"].positions()[2], [0, 1, 0.5], atol=1e-6)
    with pytest.raises(sd.UsageError, match="happy"):
        player.set_expression("hapy", 1.0)
    sd.run(vrm, sd.Graph.from_nodes("morph"), output=tmp_path / "out.npz", frames=0, expressions={"happy": 1})
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["positions"][0, 2], [0, 1, 1], atol=1e-6)
