"""Makes VRM avatars of one small humanoid, in version 1.0 and 0.x.

    make_vrm.py FOLDER [MALE.glb]

Writes FOLDER/avatar_1.vrm and FOLDER/avatar_0.vrm: a skeleton of the bones that VRM requires, a skinned body of boxes, and a head with morph
targets that expressions move. With MALE.glb (the 53 bone character of the shared data) also FOLDER/male_1.vrm and male_0.vrm: its own
skin, skeleton and clips, with morph targets of its head. Expressions: happy (two targets), blink, aa, and in 1.0 a custom one. `happy`
blocks the mouth and fades blinking in 1.0.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np

# Bone, parent, position, half size of its box.
BONES = [
    ("hips", None, (0, 1.0, 0), (0.15, 0.08, 0.10)),
    ("spine", "hips", (0, 1.15, 0), (0.14, 0.15, 0.09)),
    ("head", "spine", (0, 1.5, 0), (0.10, 0.12, 0.10)),
]
for side, x in (("left", 1.0), ("right", -1.0)):
    BONES += [
        (f"{side}UpperArm", "spine", (0.2 * x, 1.4, 0), (0.12, 0.05, 0.05)),
        (f"{side}LowerArm", f"{side}UpperArm", (0.45 * x, 1.4, 0), (0.12, 0.04, 0.04)),
        (f"{side}Hand", f"{side}LowerArm", (0.7 * x, 1.4, 0), (0.07, 0.02, 0.05)),
        (f"{side}UpperLeg", "hips", (0.1 * x, 0.9, 0), (0.07, 0.2, 0.07)),
        (f"{side}LowerLeg", f"{side}UpperLeg", (0.1 * x, 0.5, 0), (0.06, 0.2, 0.06)),
        (f"{side}Foot", f"{side}LowerLeg", (0.1 * x, 0.1, 0), (0.05, 0.05, 0.12)),
    ]

# Names of the shared character.
MALE = {"hips": "pelvis", "spine": "spine_01", "chest": "spine_02", "neck": "neck_01", "head": "head"}
for side, end in (("left", "l"), ("right", "r")):
    for bone, node in (("UpperArm", "upperarm"), ("LowerArm", "lowerarm"), ("Hand", "hand"),
                       ("UpperLeg", "thigh"), ("LowerLeg", "calf"), ("Foot", "foot")):
        MALE[side + bone] = f"{node}_{end}"

TARGETS = ["smile", "brows", "eyes", "jaw"]
# Name in 1.0, preset in 0.x, targets with weights.
EXPRESSIONS = [
    ("happy", "joy", {"smile": 1.0, "brows": 0.5}),
    ("blink", "blink", {"eyes": 1.0}),
    ("aa", "a", {"jaw": 0.8}),
]


class Glb:
    """A document and its binary chunk."""

    def __init__(self, path=None):
        self.json = {"asset": {"version": "2.0", "generator": "make_vrm.py"}, "scene": 0}
        self.binary = b""
        if path:
            data = path.read_bytes()
            length = struct.unpack_from("<I", data, 12)[0]
            self.json = json.loads(data[20 : 20 + length])
            self.binary = data[28 + length :]

    def accessor(self, array, kind, **more):
        array = np.ascontiguousarray(array)
        component = {"float32": 5126, "uint16": 5123, "uint32": 5125}[str(array.dtype)]
        self.binary += b"\0" * (-len(self.binary) % 4)
        view = {"buffer": 0, "byteOffset": len(self.binary), "byteLength": array.nbytes}
        self.binary += array.tobytes()
        views = self.json.setdefault("bufferViews", [])
        views.append(view)
        entry = {"bufferView": len(views) - 1, "componentType": component, "count": len(array), "type": kind, **more}
        self.json.setdefault("accessors", []).append(entry)
        return len(self.json["accessors"]) - 1

    def vectors(self, array):
        array = np.asarray(array, "f4")
        bounds = {"min": array.min(0).tolist(), "max": array.max(0).tolist()}
        return self.accessor(array, "VEC3", **bounds)

    def read(self, index, width):
        a = self.json["accessors"][index]
        view = self.json["bufferViews"][a["bufferView"]]
        assert a["componentType"] == 5126 and "byteStride" not in view
        start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
        return np.frombuffer(self.binary, "<f4", a["count"] * width, start).reshape(-1, width)

    def write(self, path):
        self.binary += b"\0" * (-len(self.binary) % 4)
        self.json["buffers"] = [{"byteLength": len(self.binary)}]
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        head = struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(self.binary))
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(self.binary), 0x004E4942)
        path.write_bytes(head + chunks + self.binary)


def box(center, half, steps=6):
    """Points, normals and triangles of a box with a grid on each side."""
    points, normals, triangles = [], [], []
    grid = np.linspace(-1, 1, steps + 1)
    for axis in range(3):
        for sign in (-1, 1):
            first = len(points)
            for a in grid:
                for b in grid:
                    p = np.roll([sign, a, b], axis)
                    points.append(np.array(center) + p * half)
                    normals.append(np.roll([sign, 0, 0], axis))
            for i in range(steps):
                for j in range(steps):
                    a = first + i * (steps + 1) + j
                    quad = [a, a + steps + 1, a + steps + 2, a + 1]
                    quad = quad if sign > 0 else quad[::-1]
                    triangles += [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
    return np.array(points), np.array(normals, float), np.array(triangles)


def humanoid():
    """A skinned body of boxes."""
    glb = Glb()
    names = [b[0] for b in BONES]
    places = {b[0]: np.array(b[2], float) for b in BONES}
    nodes = []
    for name, parent, place, _ in BONES:
        local = places[name] - (places[parent] if parent else 0)
        nodes.append({"name": f"J_{name}", "translation": local.tolist()})
        if parent:
            nodes[names.index(parent)].setdefault("children", []).append(len(nodes) - 1)
    points, normals, triangles, joints, weights = [], [], [], [], []
    for bone, (name, parent, place, half) in enumerate(BONES):
        p, n, t = box(place, half)
        triangles += (t + len(points)).tolist()
        points += p.tolist()
        normals += n.tolist()
        # Half of the weight at the end nearer to the parent.
        toward = places[parent] - place if parent else np.zeros(3)
        share = 0.5 * ((p - place) @ toward > 0)
        joints += [[bone, names.index(parent) if parent and s else 0, 0, 0] for s in share]
        weights += [[1 - s, s, 0, 0] for s in share]
    inverse = [np.eye(4) for _ in BONES]
    for matrix, (_, _, place, _) in zip(inverse, BONES):
        matrix[:3, 3] = -np.array(place)
    matrices = np.array([m.T.ravel() for m in inverse], "f4")
    glb.json["skins"] = [{"joints": list(range(len(BONES))), "inverseBindMatrices": glb.accessor(matrices, "MAT4")}]
    attributes = {
        "POSITION": glb.vectors(points),
        "NORMAL": glb.accessor(np.array(normals, "f4"), "VEC3"),
        "JOINTS_0": glb.accessor(np.array(joints, "u2"), "VEC4"),
        "WEIGHTS_0": glb.accessor(np.array(weights, "f4"), "VEC4"),
    }
    indices = glb.accessor(np.array(triangles, "u4").ravel(), "SCALAR")
    primitive = {"attributes": attributes, "indices": indices, "material": 0}
    glb.json["materials"] = [{"name": "skin", "pbrMetallicRoughness": {"baseColorFactor": [0.8, 0.6, 0.5, 1]}}]
    glb.json["meshes"] = [{"name": "body", "primitives": [primitive]}]
    nodes.append({"name": "body", "mesh": 0, "skin": 0})
    glb.json["nodes"] = nodes
    glb.json["scenes"] = [{"nodes": [0, len(nodes) - 1]}]
    # A nod with a wave, so that there is something to deform.
    times = glb.accessor(np.array([0, 1], "f4"), "SCALAR", min=[0], max=[1])
    half = np.sqrt(0.5)
    channels, samplers = [], []
    for bone, turn in (("head", [0.25882, 0, 0, 0.96593]), ("leftLowerArm", [0, 0, half, half])):
        values = np.array([[0, 0, 0, 1], np.array(turn) / np.linalg.norm(turn)], "f4")
        channels.append({"sampler": len(samplers), "target": {"node": names.index(bone), "path": "rotation"}})
        samplers.append({"input": times, "output": glb.accessor(values, "VEC4")})
    glb.json["animations"] = [{"name": "wave", "channels": channels, "samplers": samplers}]
    return glb, {name: index for index, name in enumerate(names)}


def male(path):
    glb = Glb(path)
    names = [n.get("name") for n in glb.json["nodes"]]
    return glb, {bone: names.index(node) for bone, node in MALE.items()}


def add_targets(glb, mesh):
    """Targets of the upper tenth of a mesh, in the space of its positions; each moves another part in another direction."""
    primitive = glb.json["meshes"][mesh]["primitives"][0]
    points = glb.read(primitive["attributes"]["POSITION"], 3).astype(float)
    up = int(np.argmax(np.ptp(points, axis=0)))
    top = points[:, up].max() - 0.1 * np.ptp(points[:, up])
    height = np.clip((points[:, up] - top) / np.ptp(points[:, up]) * 10, 0, 1)
    targets = []
    for k, _ in enumerate(TARGETS):
        band = np.exp(-40 * (height - 0.2 - 0.2 * k) ** 2) * (height > 0)
        band[band < 1e-3] = 0
        delta = np.zeros_like(points)
        delta[:, k % 3] = 0.02 * np.ptp(points[:, up]) * band * (1 + 0.5 * np.sin(37 * points[:, (k + 1) % 3]))
        targets.append({"POSITION": glb.vectors(delta)})
    primitive["targets"] = targets
    entry = glb.json["meshes"][mesh]
    entry["weights"] = [0.0] * len(TARGETS)
    entry["extras"] = {"targetNames": TARGETS}


def version_1(glb, bones, node):
    def binds(targets):
        return [{"node": node, "index": TARGETS.index(t), "weight": w} for t, w in targets.items()]

    preset = {name: {"isBinary": False, "morphTargetBinds": binds(targets)} for name, _, targets in EXPRESSIONS}
    preset["happy"].update(overrideMouth="block", overrideBlink="blend", overrideLookAt="none")
    custom = {"scowl": {"isBinary": True, "morphTargetBinds": binds({"brows": -0.5})}}
    material = glb.json["materials"][0]
    material.setdefault("extensions", {})["VRMC_materials_mtoon"] = {"specVersion": "1.0", "shadeColorFactor": [0.5, 0.3, 0.3]}
    glb.json["extensions"] = {
        "VRMC_vrm": {
            "specVersion": "1.0",
            "meta": {"name": "avatar", "authors": ["make_vrm.py"], "licenseUrl": "https://vrm.dev/licenses/1.0/"},
            "humanoid": {"humanBones": {bone: {"node": index} for bone, index in bones.items()}},
            "firstPerson": {"meshAnnotations": [{"node": node, "type": "auto"}]},
            "expressions": {"preset": preset, "custom": custom},
        },
        "VRMC_springBone": {
            "specVersion": "1.0",
            "springs": [{"name": "hand", "joints": [{"node": bones["leftHand"]}]}],
        },
    }
    glb.json["extensionsUsed"] = ["VRMC_vrm", "VRMC_springBone", "VRMC_materials_mtoon"]


def version_0(glb, bones, node):
    mesh = glb.json["nodes"][node]["mesh"]

    def binds(targets):
        return [{"mesh": mesh, "index": TARGETS.index(t), "weight": 100 * w} for t, w in targets.items()]

    groups = [{"name": preset.title(), "presetName": preset, "binds": binds(targets), "isBinary": False, "materialValues": []}
              for _, preset, targets in EXPRESSIONS]
    glb.json["extensions"] = {
        "VRM": {
            "exporterVersion": "make_vrm.py",
            "specVersion": "0.0",
            "meta": {"title": "avatar", "author": "make_vrm.py"},
            "humanoid": {"humanBones": [{"bone": bone, "node": index, "useDefaultValues": True} for bone, index in bones.items()]},
            "firstPerson": {"meshAnnotations": [{"mesh": mesh, "firstPersonFlag": "Auto"}]},
            "blendShapeMaster": {"blendShapeGroups": groups},
            "materialProperties": [{"name": m.get("name", ""), "shader": "VRM_USE_GLTFSHADER", "renderQueue": 2000, "floatProperties": {},
                                    "vectorProperties": {}, "textureProperties": {}, "keywordMap": {}, "tagMap": {}}
                                   for m in glb.json["materials"]],
        },
    }
    glb.json["extensionsUsed"] = ["VRM"]
    primitive = glb.json["meshes"][mesh]["primitives"][0]
    primitive["extras"] = {"targetNames": TARGETS}


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    sources = {"avatar": humanoid}
    if len(sys.argv) > 2:
        sources["male"] = lambda: male(Path(sys.argv[2]))
    for name, make in sources.items():
        for version, add in ((1, version_1), (0, version_0)):
            glb, bones = make()
            nodes = glb.json["nodes"]
            node = next(i for i, n in enumerate(nodes) if "mesh" in n)
            glb.json.setdefault("materials", [{"name": "skin"}])
            add_targets(glb, nodes[node]["mesh"])
            add(glb, bones, node)
            out = folder / f"{name}_{version}.vrm"
            glb.write(out)
            print(f"{out}: {len(bones)} bones, {len(EXPRESSIONS)} presets")


main()
