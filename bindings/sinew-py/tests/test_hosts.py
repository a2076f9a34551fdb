"""Adapters against fakes of the few calls that they use. Expected points are the host's own formula, with row vectors."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

import numpy as np
import pytest

import sinew_deform as sd

SKIN = sd.Graph.from_nodes("skin")
# A box of 2 x 1 x 1 centimetres, whose ends belong to two joints.
POINTS = np.array([[x, y, z] for x in (0.0, 2.0, 4.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
QUADS = [[0, 1, 3, 2], [4, 5, 1, 0], [2, 3, 7, 6], [8, 9, 5, 4], [6, 7, 11, 10], [8, 10, 11, 9]]
WEIGHTS = np.array([[1.0, 0.0]] * 4 + [[0.5, 0.5]] * 4 + [[0.0, 1.0]] * 4)


def rows(translation: list[float], degrees: float = 0.0) -> np.ndarray:
    """A rotation about Z and a translation, for row vectors."""
    a = np.radians(degrees)
    out = np.eye(4)
    out[:2, :2] = [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]
    out[3, :3] = translation
    return out


ROOT, TIP = rows([0, 0.5, 0.5], 10), rows([2, 0.5, 0.5], 10)
POSED_TIP = rows([2, 0.5, 0.5], 80)


def skinned(points: np.ndarray, inverse_binds: list[np.ndarray], worlds: list[np.ndarray]) -> np.ndarray:
    """Linear skinning with row vectors."""
    ones = np.column_stack([points, np.ones(len(points))])
    moved = [ones @ b @ w for b, w in zip(inverse_binds, worlds)]
    return sum(WEIGHTS[:, i, None] * m for i, m in enumerate(moved))[:, :3]


class FakePlug:
    def __init__(self, value: Any) -> None:
        self.value = value

    def asMObject(self) -> Any:
        return self.value

    def elementByLogicalIndex(self, i: int) -> FakePlug:
        return FakePlug(self.value[i])


class FakePath:
    """A path of the scene: of a joint, or of the mesh."""

    def __init__(self, path: str, world: np.ndarray | None = None) -> None:
        self.path, self.world = path, world

    def fullPathName(self) -> str:
        return self.path

    def partialPathName(self) -> str:
        return self.path.rpartition("|")[2]

    def inclusiveMatrix(self) -> list[float]:
        assert self.world is not None
        return list(self.world.ravel())

    def hasFn(self, kind: str) -> bool:
        return kind == "mesh" and self.world is None

    def extendToShape(self) -> FakePath:
        return self

    def node(self) -> FakePath:
        return self

    def transform(self) -> str:
        return "transform"


class FakeMaya:
    """A scene with Z up: a box bound to `root` and `root|tip`; the influences come tip first."""

    geometry = rows([0, 0, 3])

    def __init__(self) -> None:
        self.tip, self.root = FakePath("|root|tip", TIP), FakePath("|root", ROOT)
        self.original = FakePath("|box|orig")
        scene = self
        points = [types.SimpleNamespace(x=p[0], y=p[1], z=p[2]) for p in POINTS]

        class MSelectionList:
            def add(self, name: str) -> None:
                if name != "box":
                    raise RuntimeError("(kInvalidParameter): Object does not exist")

            def getDagPath(self, index: int) -> FakePath:
                return FakePath("|box|shape")

        class MFnMesh:
            numVertices = len(POINTS)

            def __init__(self, shape: Any) -> None:
                self.shape = shape

            def getPoints(self, space: str) -> list[Any]:
                # The shape itself is deformed already.
                assert self.shape is scene.original and space == "object"
                return points

            def getVertices(self) -> tuple[list[int], list[int]]:
                return [len(q) for q in QUADS], [v for q in QUADS for v in q]

        class MFnDagNode:
            isIntermediateObject = True

            def __init__(self, node: Any) -> None:
                pass

            def childCount(self) -> int:
                return 1

            def child(self, i: int) -> FakePath:
                return scene.original

        class MItDependencyGraph:
            kUpstream = "up"

            def __init__(self, node: Any, kind: str, direction: str) -> None:
                assert (kind, direction) == ("skin", "up")

            def isDone(self) -> bool:
                return False

            def currentNode(self) -> str:
                return "skinCluster1"

        class MFnDependencyNode:
            def __init__(self, node: Any) -> None:
                pass

            def findPlug(self, name: str, networked: bool) -> FakePlug:
                if name == "geomMatrix":
                    return FakePlug(scene.geometry)
                # By logical index: 3 is the tip, 5 the root.
                return FakePlug({3: np.linalg.inv(TIP), 5: np.linalg.inv(ROOT)})

        class MFnMatrixData:
            def __init__(self, value: np.ndarray) -> None:
                self.value = value

            def matrix(self) -> list[float]:
                return list(self.value.ravel())

        class MFnSingleIndexedComponent:
            def create(self, kind: str) -> str:
                return "vertices"

            def setCompleteData(self, count: int) -> None:
                assert count == len(POINTS)

        class MFnSkinCluster:
            def __init__(self, node: str) -> None:
                assert node == "skinCluster1"

            def influenceObjects(self) -> list[FakePath]:
                return [scene.tip, scene.root]

            def indexForInfluenceObject(self, path: FakePath) -> int:
                return 3 if path is scene.tip else 5

            def getWeights(self, path: FakePath, component: str) -> tuple[list[float], int]:
                return list(WEIGHTS[:, ::-1].ravel()), 2

        self.om = types.ModuleType("maya.api.OpenMaya")
        names = [MSelectionList, MFnMesh, MFnDagNode, MItDependencyGraph, MFnDependencyNode, MFnMatrixData]
        for value in [*names, MFnSingleIndexedComponent]:
            setattr(self.om, value.__name__, value)
        self.om.MFn = types.SimpleNamespace(kMesh="mesh", kSkinClusterFilter="skin", kMeshVertComponent="vertex")  # type: ignore[attr-defined]
        self.om.MSpace = types.SimpleNamespace(kObject="object")  # type: ignore[attr-defined]
        self.om.MGlobal = types.SimpleNamespace(isYAxisUp=lambda: False)  # type: ignore[attr-defined]
        self.oma = types.ModuleType("maya.api.OpenMayaAnim")
        self.oma.MFnSkinCluster = MFnSkinCluster  # type: ignore[attr-defined]


@pytest.fixture
def maya(monkeypatch: pytest.MonkeyPatch) -> tuple[FakeMaya, Any]:
    fake = FakeMaya()
    package, api = types.ModuleType("maya"), types.ModuleType("maya.api")
    api.OpenMaya, api.OpenMayaAnim = fake.om, fake.oma  # type: ignore[attr-defined]
    package.api = api  # type: ignore[attr-defined]
    modules = {"maya": package, "maya.api": api, "maya.api.OpenMaya": fake.om, "maya.api.OpenMayaAnim": fake.oma}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "sinew_deform.hosts.maya", raising=False)
    return fake, importlib.import_module("sinew_deform.hosts.maya")


def test_maya_rest_is_in_metres_with_y_up(maya: tuple[FakeMaya, Any]) -> None:
    _, module = maya
    rig = module.Rig("box")
    assert [(j.name, j.parent) for j in rig.character.joints] == [("root", None), ("tip", 0)]
    # 3 centimetres up from the geometry matrix; Z up becomes Y up.
    expected = np.column_stack([POINTS[:, 0], POINTS[:, 2] + 3, -POINTS[:, 1]]) / 100
    np.testing.assert_allclose(rig.character.meshes[0].positions, expected, atol=1e-7)
    np.testing.assert_allclose(rig.character.joints[1].rest[:3, 3], [0.02, 0.005, -0.005], atol=1e-7)
    np.testing.assert_allclose(rig.character.joints[1].rest, rig.pose()[1], atol=1e-7)


def test_maya_points_are_those_of_the_skin_cluster(maya: tuple[FakeMaya, Any]) -> None:
    fake, module = maya
    rig = module.Rig("box")
    player = sd.Player(rig.character, SKIN)
    fake.tip.world = POSED_TIP
    world = POINTS + [0, 0, 3]
    expected = skinned(world, [np.linalg.inv(ROOT), np.linalg.inv(TIP)], [ROOT, POSED_TIP])
    np.testing.assert_allclose(rig.deform(player, 1), expected, atol=1e-4)


def test_maya_nodes_that_are_missing(maya: tuple[FakeMaya, Any]) -> None:
    fake, module = maya
    with pytest.raises(sd.UsageError, match="'bix'"):
        module.Rig("bix")
    fake.om.MItDependencyGraph.isDone = lambda self: True  # type: ignore[attr-defined]
    with pytest.raises(sd.UsageError, match="no skin cluster"):
        module.Rig("box")


class FakeGeometry:
    """The calls of `hou.Geometry` that the adapter uses."""

    def __init__(self, points: np.ndarray, prims: list[list[int]], **attributes: Any) -> None:
        self.values: dict[str, Any] = {"P": list(points.ravel()), **attributes}
        self.faces, self.count = prims, len(points)

    def pointFloatAttribValues(self, name: str) -> tuple[float, ...]:
        return tuple(self.values[name])

    def pointStringAttribValues(self, name: str) -> tuple[str, ...]:
        return tuple(self.values[name])

    def setPointFloatAttribValues(self, name: str, values: list[float]) -> None:
        self.values[name] = values

    def findPointAttrib(self, name: str) -> Any:
        if name not in self.values:
            return None
        paths = ["tip/cregion 0", "root/cregion 0"]
        table = types.SimpleNamespace(numIndices=lambda: 2, stringPropertyValueAtIndex=lambda key, i: paths[i])
        return types.SimpleNamespace(name=name, indexPairPropertyTables=lambda: (table,))

    def points(self) -> list[Any]:
        # Tip first, as in the table; a third pair is unused.
        pairs = [[0, w[1], 1, w[0], -1, 0] for w in WEIGHTS]
        return [types.SimpleNamespace(floatListAttribValue=lambda a, p=p: p) for p in pairs]

    def prims(self) -> list[Any]:
        vertex = lambda v: types.SimpleNamespace(point=lambda: types.SimpleNamespace(number=lambda: v))  # noqa: E731
        return [types.SimpleNamespace(vertices=lambda f=f: [vertex(v) for v in f]) for f in self.faces]


def skeleton(tip: np.ndarray) -> FakeGeometry:
    """Points: the tip, then the root; the line goes from root to tip."""
    matrices = np.array([tip, ROOT])
    transform = list(matrices[:, :3, :3].ravel())
    return FakeGeometry(matrices[:, 3, :3], [[1, 0]], name=["tip", "root"], transform=transform)


def skin() -> FakeGeometry:
    return FakeGeometry(POINTS, [list(reversed(q)) for q in QUADS], boneCapture=[0.0])


def test_houdini_points_are_those_of_bone_deform() -> None:
    houdini = importlib.import_module("sinew_deform.hosts.houdini")
    rig = houdini.Rig(skin(), skeleton(TIP))
    assert [(j.name, j.parent) for j in rig.character.joints] == [("root", None), ("tip", 0)]
    # Houdini's polygons are clockwise; those of a character are not.
    assert rig.character.meshes[0].triangles[0].tolist() == [0, 1, 3]
    player = sd.Player(rig.character, SKIN)
    points = rig.deform(player, 1, skeleton(POSED_TIP))
    expected = skinned(POINTS, [np.linalg.inv(ROOT), np.linalg.inv(TIP)], [ROOT, POSED_TIP])
    np.testing.assert_allclose(points, expected, atol=1e-5)
    geometry = skin()
    houdini.write(geometry, points)
    np.testing.assert_allclose(np.reshape(geometry.values["P"], (-1, 3)), points)


def test_houdini_attributes_that_are_missing() -> None:
    houdini = importlib.import_module("sinew_deform.hosts.houdini")
    with pytest.raises(sd.UsageError, match="boneCapture"):
        houdini.Rig(FakeGeometry(POINTS, QUADS), skeleton(TIP))
    with pytest.raises(sd.UsageError, match="name"):
        houdini.Rig(skin(), FakeGeometry(POINTS, []))
    lacking = skeleton(TIP)
    lacking.values["name"] = ["tip", "hip"]
    with pytest.raises(sd.UsageError, match="'root'"):
        houdini.Rig(skin(), lacking)
