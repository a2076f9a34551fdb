"""Small files of everyday kinds, against the right answer of each.

    cases.py SINEW CASES [--gpu]

Runs the program on the files under CASES (characters/01_... and so on; each folder's README says what is right and how one knows) and
compares with NumPy. Prints a line a case. Exit code 1 where a case fails. With --gpu, graphs run on the graphics adapter.
"""

import inspect
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SINEW, CASES = sys.argv[1], Path(sys.argv[2])
DEVICE = ["--device", "gpu"] if "--gpu" in sys.argv else []
OUT = Path(tempfile.mkdtemp())


def case(name):
    return next((CASES / name.split("/")[0]).glob(name.split("/")[1] + "_*"))


def sinew(*arguments):
    done = subprocess.run([SINEW, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"sinew {' '.join(map(str, arguments))}: {done.returncode}: {done.stderr}")
    return done.stdout + done.stderr


def run(character, graph, *more, key="positions"):
    out = OUT / "out.npz"
    sinew("run", character, "--graph", graph, "-o", out, *DEVICE, *more)
    arrays = np.load(out)
    return arrays[key].astype(np.float64)


def below(found, limit, what):
    found = float(found)
    assert found < limit, f"{what}: {found:.3g}, allowed {limit:g}"
    return f"{what} {found:.2g}"


def worst(a, b):
    assert a.shape == b.shape, f"{a.shape} and {b.shape}"
    return np.linalg.norm(a - b, axis=-1).max()


GRAPH_OF_BODY = OUT / "body.json"
GRAPH_OF_BODY.write_text('{"sinew": "1.0", "stack": ["skin", "delta_mush"]}')
GRAPHS = ["delta_mush", "dual_quaternion", "direct_delta_mush"]


def unused_leaf_joint():
    at = case("characters/01")
    for graph in GRAPHS:
        with_leaf, without = (run(at / f"a15_{f}.glb", at / f"{graph}.json") for f in ["leaf_identity", "noleaf"])
        yield below(worst(with_leaf, without), 1e-5, graph)


def rest_is_a_posed_frame():
    at = case("characters/02")
    bent, bound = (run(at / f"a12_{f}.glb", at / "mask_push.json") for f in ["restbent", "restbind"])
    yield below(worst(bent, bound), 1e-5, "frames")
    said = json.loads(sinew("inspect", at / "a12_restbent.glb", "--json"))
    assert "rest_pose_differs" in json.dumps(said["warnings"]), said["warnings"]


def whole_rig_scaled():
    at = case("characters/03")
    for graph in GRAPHS:
        grows, one = (run(at / f"a8_{f}.glb", at / f"{graph}.json") for f in ["grow", "one"])
        times = np.arange(len(one)) / 30
        scale = 1 + 2 * times / times[-1]
        yield below(worst(grows / scale[:, None, None], one), 2e-5, graph)


def delta_mush_away_from_origin():
    at = case("characters/04")
    near = run(at / "a10_root_0.glb", at / "delta_mush.json")
    # Three steps of single precision, 6.1e-5 m at 1 km: matrices and positions are rounded to it, and linear skinning alone takes one and a half.
    for place, limit in [(1000, 1.83e-4), (100, 2.3e-5)]:
        far = run(at / f"a10_root_{place}.glb", at / "delta_mush.json") - [place, 0, -0.7 * place]
        yield below(worst(far, near), limit, f"{place} m")


def tangents_at_mirrored_uv():
    at = case("characters/05")
    found = run(at / "k2_mirror_tan.glb", at / "graph.json", "--frames", "0", key="tangents")[0]
    expected = np.load(at / "expected.npz")["tangents"]
    assert (found[:, 3] == expected[:, 3]).all(), "signs"
    cosine = (found[:, :3] * expected[:, :3]).sum(axis=-1)
    yield below(np.degrees(np.arccos(cosine.clip(-1, 1))).max(), 1, "degrees")


def lattice_points_on_the_box():
    at = case("characters/14")
    found = run(at / "points.obj", at / "lattice.json", "--frames", "0")[0]
    yield below(worst(found, np.load(at / "expected.npz")["positions"]), 1e-4, "metres")


def on_the_ball(at, ball, graph):
    """Hair that fell on a ball of radius 0.5 is outside of it, and rests."""
    hair = run(at / f"{ball}.obj", at / f"{graph}.json", "--frames", "0-90", key="hair_positions")
    depth = 0.5 - np.linalg.norm(hair, axis=-1).min()
    speed = np.linalg.norm(hair[-1] - hair[-2], axis=-1).max() * 30
    below(hair[-1, :, 1].min(), 0.3, f"{ball}, lowest vertex")
    yield below(depth, 0.0005, f"{ball}, {graph}: depth")
    yield below(speed, 0.1, "m/s")


def inside_out_collider():
    at = case("sequences/06")
    for ball in ["ball", "ball_mirrored"]:
        yield from on_the_ball(at, ball, "hair")


def double_sided_collider():
    at = case("sequences/07")
    for graph in ["hair", "hair_winding"]:
        yield from on_the_ball(at, "ball_double_sided", graph)


def weld_gap():
    at = case("seeds/01")
    for name, tolerance in [("gap_0", "0"), ("gap_0", "0.01"), ("gap_1e-6", "0.01")]:
        lines = [line.split() for line in (at / f"{name}.obj").read_text().splitlines()]
        rest = np.array([line[1:4] for line in lines if line and line[0] == "v"], np.float64)
        out = run(at / f"{name}.obj", at / f"tolerance_{tolerance}.json", "--frames", "0")[0]
        away = np.linalg.norm(rest[:, None] - rest[None], axis=-1)
        a, b = np.nonzero(np.triu(away < 1e-5, 1))
        gaps = np.linalg.norm(out[a] - out[b], axis=-1)
        yield below(np.abs(gaps - away[a, b]).max(), 1e-6, f"{name}, tolerance {tolerance}, {len(a)} pairs")


def step_keys():
    at = case("seeds/02")
    positions = run(at / "rig_step.glb", at / "step.json", "--fps", "30")
    gltf = json.loads(glb(at / "rig_step.glb")[0])
    sampler = gltf["animations"][0]["samplers"][0]
    keys = accessor(at / "rig_step.glb", sampler["output"])
    assert len(positions) == len(keys), f"{len(positions)} frames, {len(keys)} keys"
    yield f"{len(keys)} frames"
    # Two frames with one key would show the same mesh.
    for n in range(1, len(keys)):
        moved, turned = worst(positions[n], positions[n - 1]), np.abs(keys[n] - keys[n - 1]).max()
        assert (moved > 1e-6) == (turned > 1e-6), f"frame {n}"


def shared_vertex_buffer():
    at = case("characters/06")
    meshes = []
    for name in ["a6_shared_1", "a6_shared_6"]:
        said = json.loads(sinew("inspect", at / f"{name}.glb", "--json"))
        meshes.append((said["meshes"][0]["vertices"], run(at / f"{name}.glb", GRAPH_OF_BODY)))
    (one, a), (six, b) = meshes
    assert one == six == 206, f"{one} and {six} vertices"
    yield "206 vertices"
    yield below(worst(a, b), 1e-6, "metres")


def bake(source, *more):
    out = Path(tempfile.mkdtemp()) / "out"
    said = sinew("bake", "vat", source, "-o", out, *more)
    manifest = json.loads(next(out.glob("*.vat.json")).read_text())
    return out, manifest, said


def far_doubles():
    at = case("sequences/01")
    out, manifest, said = bake(at, "--up", "z")
    assert "origin_moved" in said or "origin" in said, said
    origin = np.array(manifest["origin"])
    # East, north, up in the files; up is y in glTF.
    assert np.abs(origin - [512345, 312, -5401234]).max() < 20, origin
    within = float(said.split("positions within ")[1].split(" mm")[0])
    yield below(within, 0.1, "mm")
    sinew("vat", "verify", out, at, "--up", "z")
    loss = sinew("inspect", at / "scan_000.ply")
    assert "229" in loss, loss
    yield "loss told"


def mirrored_driver_joint():
    at = case("sequences/03")
    for name in ["", "_unmirrored"]:
        graph = OUT / "driver.json"
        sinew("psd", "convert", at / f"drivers{name}.json", "-o", graph)
        document = json.loads(graph.read_text())
        document["outputs"]["w"] = "arm_solver"
        graph.write_text(json.dumps(document))
        weights = run(at / f"rig{name}.glb", graph, "--frames", "0-3", key="w")
        yield below(np.abs(weights - np.eye(4)).max(), 1e-5, name or "mirrored")


def flat_shaded_sequence():
    _, manifest, said = bake(case("sequences/04"))
    assert manifest["mode"] == "soft", manifest["mode"]
    assert "tear" not in said, said
    yield manifest["mode"]


def repeated_tip():
    at = case("sequences/05")
    said = sinew("run", at / "ball.obj", "--graph", at / "hair.json", "--input", f"hair={at / 'tip_three_times_more.tfx'}", "--frames", "0", "-o", OUT / "a.npz")
    assert "24 points" in said and "8 strands" in said, said
    yield "told"


def loop_closing_frame():
    _, manifest, said = bake(case("sequences/09"), "--at-end", "seamless-loop")
    assert manifest["clips"][0]["count"] == 12, manifest["clips"]
    assert "equals the first one" in said, said
    yield "12 frames"


def vat_materials():
    out, _, _ = bake(case("sequences/14") / "two_materials.glb", "--fps", "4")
    gltf = json.loads(glb(next(out.glob("*.glb")))[0])
    primitives = gltf["meshes"][0]["primitives"]
    names = {gltf["materials"][p["material"]]["name"] for p in primitives}
    assert len(primitives) == len(names) == 2, names
    yield f"{len(primitives)} materials"


def empty_file():
    _, _, said = bake(case("sequences/17"))
    assert "w_003.obj" in said, said
    yield "told"


def blendshapes_only():
    at, graph = case("seeds/03"), OUT / "shapes.json"
    sinew("psd", "convert", at / "euler.json", "-o", graph)
    sinew("psd", "check", graph)
    assert json.loads(graph.read_text())["outputs"], "no output"
    yield "weights are an output"


def joint_orients():
    at, back = case("seeds/04"), OUT / "back.json"
    sinew("psd", "convert", at / "psd_rows.json", "--to", "psd", "-o", back)
    # The file has comments, and commas behind last elements.
    text = re.sub(r"^\s*//.*$", "", (at / "psd_rows.json").read_text(), flags=re.MULTILINE)
    given = json.loads(re.sub(r",(\s*[}\]])", r"\1", text))
    assert json.loads(back.read_text()) == given
    yield "equal"


def hlsl_in_a_kernel():
    at = case("seeds/05")
    done = subprocess.run([SINEW, "check", at / "hlsl.json"], capture_output=True, text=True)
    assert done.returncode == 4, done.returncode
    assert "HLSL" in done.stderr and "var p: vec3f" in done.stderr and "docs/nodes/kernel.md" in done.stderr, done.stderr
    yield "named"


def convert_keeps_everything():
    at = case("drivers_and_hair/01")
    for name, to in [("wr", "pose-wrangler"), ("psd", "psd"), ("psd_vendor", "psd")]:
        back = OUT / f"{name}.json"
        sinew("psd", "convert", at / f"{name}.json", "--to", to, "--strict", "-o", back)
        assert json.loads(back.read_text()) == json.loads((at / f"{name}.json").read_text()), name
        yield name


def guide_comes_to_rest():
    at = case("drivers_and_hair/02")
    out = OUT / "settle.npz"
    sinew("run", at / "rat_settle.glb", "--graph", at / "guide67.json", "--clip", "settle", "-o", out)
    data = np.load(out)
    name = next(n for n in data.files if n.endswith("positions") and n.startswith("hair"))
    # From five seconds after the movement on.
    times, tip = data["times"], data[name][:, -1]
    speed = np.linalg.norm(np.diff(tip, axis=0), axis=1) / np.diff(times)
    below(speed[times[1:] > 5.5].max(), 1e-3, "speed of the tip, m/s")
    yield "at rest"


def glb(path):
    data = path.read_bytes()
    length = int.from_bytes(data[12:16], "little")
    return data[20 : 20 + length], data[28 + length :]


def accessor(path, index):
    head, blob = glb(path)
    gltf = json.loads(head)
    of = gltf["accessors"][index]
    view = gltf["bufferViews"][of["bufferView"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[of["type"]]
    start = view.get("byteOffset", 0) + of.get("byteOffset", 0)
    return np.frombuffer(blob, "<f4", of["count"] * width, start).reshape(-1, width)


CHECKS = {
    "characters/01": unused_leaf_joint,
    "characters/02": rest_is_a_posed_frame,
    "characters/03": whole_rig_scaled,
    "characters/04": delta_mush_away_from_origin,
    "characters/05": tangents_at_mirrored_uv,
    "characters/06": shared_vertex_buffer,
    "characters/14": lattice_points_on_the_box,
    "sequences/01": far_doubles,
    "sequences/03": mirrored_driver_joint,
    "sequences/04": flat_shaded_sequence,
    "sequences/05": repeated_tip,
    "sequences/06": inside_out_collider,
    "sequences/07": double_sided_collider,
    "sequences/09": loop_closing_frame,
    "sequences/14": vat_materials,
    "sequences/17": empty_file,
    "seeds/01": weld_gap,
    "seeds/02": step_keys,
    "seeds/03": blendshapes_only,
    "seeds/04": joint_orients,
    "seeds/05": hlsl_in_a_kernel,
    "drivers_and_hair/01": convert_keeps_everything,
    "drivers_and_hair/02": guide_comes_to_rest,
}
# What no graph takes part in says the same on every device.
if "--gpu" in sys.argv:
    CHECKS = {name: check for name, check in CHECKS.items() if "bake(" not in inspect.getsource(check)}

failed = 0
for name, check in CHECKS.items():
    try:
        print(f"{name} {check.__name__}: {', '.join(check())}")
    except Exception as error:
        failed += 1
        print(f"FAILED: {name} {check.__name__}: {error}")
sys.exit(failed > 0)
