"""Real characters in other places, sizes and packings: the same shape, for every skinning that depends on a bind space.

    real_characters.py SINEW CHARACTERS [--gltfpack CLI.js] [--gpu] [NAME...]

Each .glb and .gltf of CHARACTERS runs through delta mush, dual quaternions and direct delta mush: as it is; its scene moved by 1 km; scaled by
0.01 and by 100; with a leaf joint that nothing follows and whose inverse bind matrix is the identity; and packed by gltfpack. What is moved and scaled
back must be the same within 1e-4 of the diagonal of the box (packed: as surfaces, from vertex to nearest vertex), or within one and a half times what plain
linear skinning of the same file is off: positions step by 6e-5 m at 1 km, and gltfpack rounds weights and rotations. Needs NumPy. Exit code 1 where one is not.
"""

import base64
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

arguments = sys.argv[1:]
GPU = "--gpu" in arguments
arguments = [a for a in arguments if a != "--gpu"]
PACK = None
if "--gltfpack" in arguments:
    at = arguments.index("--gltfpack")
    PACK = arguments[at + 1]
    del arguments[at : at + 2]
SINEW, CHARACTERS, NAMES = arguments[0], Path(arguments[1]), arguments[2:]
OUT = Path(tempfile.mkdtemp())
ALLOWED = 1e-4

GRAPHS = {
    "linear": '{"node": "skin", "method": "linear"}',
    "delta_mush": '{"node": "skin", "method": "linear"}, "delta_mush"',
    "dual_quaternion": '{"node": "skin", "method": "dual_quaternion"}',
    "direct_delta_mush": '"direct_delta_mush"',
}


def read(path):
    """JSON and one buffer."""
    data = path.read_bytes()
    if data[:4] == b"glTF":
        length = struct.unpack_from("<I", data, 12)[0]
        document = json.loads(data[20 : 20 + length])
        return document, bytearray(data[20 + length + 8 :])
    document = json.loads(data)
    joined = bytearray()
    starts = []
    for buffer in document["buffers"]:
        uri = buffer["uri"]
        content = base64.b64decode(uri.split(",", 1)[1]) if uri.startswith("data:") else (path.parent / uri).read_bytes()
        starts.append(len(joined))
        joined += content + bytes(-len(content) % 4)
    for view in document["bufferViews"]:
        view["byteOffset"] = view.get("byteOffset", 0) + starts[view["buffer"]]
        view["buffer"] = 0
    document["buffers"] = [{"byteLength": len(joined)}]
    for image in document.get("images", []):
        if "uri" in image and not image["uri"].startswith("data:"):
            image["uri"] = "missing.png"
    return document, joined


def write(name, document, binary):
    document["buffers"] = [{"byteLength": len(binary)}]
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary = bytes(binary) + bytes(-len(binary) % 4)
    path = OUT / f"{name}.glb"
    size = 12 + 8 + len(text) + 8 + len(binary)
    head = struct.pack("<III", 0x46546C67, 2, size)
    path.write_bytes(head + struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x4E4942) + binary)
    return path


def under(document, **transform):
    """All of the scene under one more node."""
    document = json.loads(json.dumps(document))
    scene = document["scenes"][document.get("scene", 0)]
    document["nodes"].append({"name": "placed", "children": scene["nodes"], **transform})
    scene["nodes"] = [len(document["nodes"]) - 1]
    return document


def with_leaf(document, binary):
    document, binary = json.loads(json.dumps(document)), bytearray(binary)
    for skin in document.get("skins", []):
        document["nodes"].append({"name": "unused leaf", "translation": [3.0, 5.0, 7.0]})
        leaf = len(document["nodes"]) - 1
        document["nodes"][skin["joints"][0]].setdefault("children", []).append(leaf)
        accessor = document["accessors"][skin["inverseBindMatrices"]]
        view = document["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        matrices = binary[start : start + 64 * accessor["count"]] + np.eye(4, dtype="<f4").tobytes()
        binary += bytes(-len(binary) % 4)
        document["bufferViews"].append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(matrices)})
        binary += matrices
        document["accessors"].append(
            {"bufferView": len(document["bufferViews"]) - 1, "componentType": 5126, "count": accessor["count"] + 1, "type": "MAT4"}
        )
        skin["joints"].append(leaf)
        skin["inverseBindMatrices"] = len(document["accessors"]) - 1
    return document, binary


def frames(document):
    """First, a middle and the last frame of the first clip."""
    animations = document.get("animations")
    if not animations:
        return "0"
    inputs = [document["accessors"][s["input"]]["max"][0] for s in animations[0]["samplers"]]
    last = int(max(inputs) * 30)
    step = max(last // 2, 1)
    return f"0-{step * 2}/{step}" if last >= 2 else "0"


def run(path, stack, numbers):
    graph = OUT / "graph.json"
    graph.write_text('{"sinew": "1.0", "stack": [' + stack + "]}")
    out = OUT / "out.npz"
    command = [SINEW, "run", path, "--graph", graph, "--frames", numbers, "-o", out] + (["--device", "gpu"] if GPU else [])
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return np.load(out)["positions"].astype(np.float64)


def nearest(a, b):
    """Largest distance of a vertex of `a` (of some ten thousand of them) from the nearest one of `b`, both ways, by cells."""

    def one_way(a, b, cell):
        grid = {}
        for i, key in enumerate(map(tuple, np.floor(b / cell).astype(int))):
            grid.setdefault(key, []).append(i)
        worst = 0.0
        for p in a[:: max(1, len(a) // 10000)]:
            k = np.floor(p / cell).astype(int)
            near = [i for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) for i in grid.get((k[0] + x, k[1] + y, k[2] + z), ())]
            worst = max(worst, np.linalg.norm(b[near] - p, axis=1).min() if near else cell)
        return worst

    cell = np.linalg.norm(b.max(0) - b.min(0)) / 100
    return max(one_way(a, b, cell), one_way(b, a, cell))


failed = False
for path in sorted(CHARACTERS.glob("*.gl*")):
    if NAMES and path.stem not in NAMES:
        continue
    document, binary = read(path)
    if not document.get("skins"):
        continue
    numbers = frames(document)
    base = write("base", document, binary)
    variants = {
        "1 km": (write("moved", under(document, translation=[1000.0, 0.0, 0.0]), binary), 1.0, np.array([1000.0, 0.0, 0.0])),
        "x 0.01": (write("small", under(document, scale=[0.01] * 3), binary), 0.01, np.zeros(3)),
        "x 100": (write("large", under(document, scale=[100.0] * 3), binary), 100.0, np.zeros(3)),
        "leaf": (write("leaf", *with_leaf(document, binary)), 1.0, np.zeros(3)),
    }
    # What linear skinning is off, by variant.
    plain = {}

    def judged(name, what, off):
        if name == "linear":
            plain[what] = off
            return f"{what} {off:.1e}"
        fits = off < max(ALLOWED, 1.5 * plain[what])
        return f"{what} {off:.1e}" + ("" if fits else " WRONG")

    for name, stack in GRAPHS.items():
        try:
            rest = run(base, stack, numbers)
        except RuntimeError as error:
            print(f"{path.name:32} {name:18} {error}")
            continue
        box = np.linalg.norm(rest[0].max(0) - rest[0].min(0))
        line = []
        for what, (variant, scale, moved) in variants.items():
            found = (run(variant, stack, numbers) - moved) / scale
            off = np.linalg.norm(found - rest, axis=-1).max() / box
            line.append(judged(name, what, off))
        if PACK:
            packed = OUT / "packed.glb"
            command = ["node", PACK, "-i", base, "-o", packed, "-noq", "-ar", "16", "-at", "24", "-kn", "-km", "-ke"]
            subprocess.run([str(c) for c in command], check=True, capture_output=True)
            found = run(packed, stack, numbers)
            off = max(nearest(a, b) for a, b in zip(found, rest)) / box
            line.append(judged(name, "packed", off))
        failed |= any(part.endswith("WRONG") for part in line)
        print(f"{path.name:32} {name:18} box {box:7.3f} m: {', '.join(line)}", flush=True)
sys.exit(failed)
