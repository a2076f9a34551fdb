"""Bakes sequences with two programs, in every mode, convention, format and order, whole and in chunks, and compares the files byte by byte
(JSON of GLB files key by key).

    python same_bakes.py OLD NEW [--data ../shared/data] [--only TEXT]

For changes that must not change what is written: OLD is the program before the change. Reports are not compared, since their words may change.
Ends with 1 where a file differs or stands alone, or where only one of the programs bakes. With --data real sequences are baked, too.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

TOOLS = pathlib.Path(__file__).parent


def write_ply(path, points, faces, columns=()):
    """Binary, little endian; `columns` are names and arrays of scalars of vertices."""
    names = ["x", "y", "z"] + [name for name, _ in columns]
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(points)}"]
    head += [f"property float {name}" for name in names]
    if faces is not None:
        head += [f"element face {len(faces)}", "property list uchar int vertex_indices"]
    data = np.column_stack([points] + [np.asarray(values) for _, values in columns]).astype("<f4").tobytes()
    if faces is not None:
        rows = np.zeros(len(faces), dtype=[("count", "u1"), ("corners", "<i4", (3,))])
        rows["count"], rows["corners"] = 3, faces
        data += rows.tobytes()
    path.write_bytes("\n".join(head + ["end_header", ""]).encode() + data)


def sheet(side):
    u, v = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    points = np.stack([u.ravel() / side, np.zeros(side * side), v.ravel() / side], axis=1)
    corner = (u[:-1, :-1] * side + v[:-1, :-1]).ravel()
    faces = np.concatenate([np.stack([corner, corner + 1, corner + side], 1), np.stack([corner + 1, corner + side + 1, corner + side], 1)])
    return points, faces


def make_tears(folder):
    """A sheet whose halves part from the fourth frame on: vertices on the seam become two."""
    points, faces = sheet(9)
    for frame in range(7):
        moved = points.copy()
        moved[:, 1] = 0.2 * np.sin(3 * points[:, 0] + 0.5 * frame)
        columns, corners = moved, faces
        if frame >= 3:
            right = points[faces].mean(axis=1)[:, 0] > 0.45
            again = np.unique(faces[right])
            number = np.arange(len(points))
            number[again] = len(points) + np.arange(len(again))
            corners = np.where(right[:, None], number[faces], faces)
            columns = np.concatenate([moved, moved[again] + [0.05 * (frame - 2), 0, 0]])
        write_ply(folder / f"tears_{frame + 1:04}.ply", columns, corners)


def make_changes(folder):
    """A sheet of which frames have more and fewer triangles, with texture coordinates, colours and a velocity."""
    for frame in range(8):
        points, faces = sheet(6 + frame % 3)
        points[:, 1] = 0.1 * np.cos(4 * points[:, 2] + 0.4 * frame)
        one = np.ones(len(points))
        columns = [("s", points[:, 0]), ("t", points[:, 2]), ("vx", 0 * one), ("vy", 0.3 * one), ("vz", 0.1 * one)]
        columns += [("red", points[:, 0]), ("green", 0.5 * one), ("blue", points[:, 2]), ("heat", points[:, 1])]
        write_ply(folder / f"changes_{frame + 1:04}.ply", points, faces, columns)


def make_points(folder):
    """Points that are born and die, with numbers and widths."""
    for frame in range(6):
        ids = np.arange(frame, frame + 20)
        points = np.stack([np.cos(ids), 0.1 * frame + 0.02 * ids, np.sin(ids)], axis=1)
        write_ply(folder / f"points_{frame + 1:04}.ply", points, None, [("id", ids), ("size", 0.02 + 0.001 * ids)])


def make_recut(folder):
    """A bent sheet whose quads are cut along the other diagonal in every second frame."""
    points, faces = sheet(7)
    half = len(faces) // 2
    a, b, c, d = faces[:half, 0], faces[:half, 1], faces[:half, 2], faces[half:, 1]
    other = np.concatenate([np.stack([a, b, d], 1), np.stack([a, d, c], 1)])
    for frame in range(6):
        moved = points.copy()
        moved[:, 1] = 0.3 * np.sin(5 * points[:, 0] + 0.5 * frame) * np.cos(4 * points[:, 2])
        write_ply(folder / f"recut_{frame + 1:04}.ply", moved, other if frame % 2 else faces)


def sequences(folder, data):
    """Name and pattern of each sequence."""
    run = lambda *words: subprocess.run([sys.executable, *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    run(TOOLS / "make_twist.py", folder / "twist")
    run(TOOLS / "vat_pieces.py", "make", folder / "shards")
    for make in (make_tears, make_changes, make_points, make_recut):
        name = make.__name__.removeprefix("make_")
        (folder / name).mkdir()
        make(folder / name)
    out = {name: f"{folder}/{name}/{name}_####.obj" for name in ("twist", "shards")}
    out |= {name: f"{folder}/{name}/{name}_####.ply" for name in ("tears", "changes", "points", "recut")}
    for name in ("boolean_cut", "cloth_drape", "liquid_splash", "particles"):
        frames = sorted((data / "sequences" / name).glob("*.ply"))[8:20] if data else []
        if frames:
            (folder / name).mkdir()
            for frame in frames:
                shutil.copy(frame, folder / name)
            out[name] = str(folder / name)
        else:
            print(f"skipped: {name} is not there")
    return out


ENGINES = ["gltf", "godot", "three", "bevy", "blender", "unity", "unreal"]
FORMATS = ["unorm8", "unorm16", "two_unorm8", "half", "float"]
CHANGES = ["changes", "twist", "boolean_cut", "liquid_splash"]


def bakes():
    """Sequence and options of each bake."""
    for engine in ENGINES:
        for name, mode in [("twist", "soft"), ("changes", "remesh"), ("shards", "rigid"), ("points", "particles")]:
            yield name, ["--mode", mode, "--for", engine]
    for form in FORMATS:
        yield "twist", ["--texture", f"offset:{form}", "--texture", "normal:half"]
        yield "twist", ["--texture", f"position:{form}", "--texture", "tangent:unorm16", "--texture", "uv0:unorm16"]
        yield "changes", ["--texture", f"position:{form}", "--texture", f"normal:{form}", "--texture", "thickness:half"]
        yield "changes", ["--points", "unique", "--texture", f"position:{form}", "--texture", "attribute=heat:float"]
        yield "shards", ["--mode", "rigid", "--texture", f"position:{form}", "--texture", f"rotation:{form}"]
        yield "points", ["--texture", f"position:{form}", "--texture", f"size:{form}"]
    for name in CHANGES:
        for order in ("match", "file"):
            for points in ("corners", "unique"):
                yield name, ["--mode", "remesh", "--order", order, "--points", points]
    for name in ("twist", "tears", "recut", "boolean_cut", "cloth_drape", "particles", "liquid_splash", "shards", "points", "changes"):
        yield name, []
    for name in ("recut", "tears"):
        yield name, ["--recut-tolerance", "0"]
        yield name, ["--mode", "remesh"]
    yield "shards", ["--mode", "rigid", "--no-blend", "--obj"]
    yield "particles", ["--point-scale", "2"]
    yield "changes", ["--velocity", "velocity", "--power-of-two", "--at-end", "clamp"]
    yield "changes", ["--max-side", "64"]
    yield "twist", ["--range", "a=1..4", "--range", "b=5..9", "--at-end", "seamless-loop", "--name", "two"]
    yield "twist", ["--crease", "10", "--mode", "remesh"]
    yield "twist", ["--faces", "300", "--relax", "2", "--delete-hidden"]
    yield "liquid_splash", ["--faces", "2000"]
    yield "twist", ["--convention", "openvat"]
    yield "twist", ["--convention", "openvat", "--packed-normals"]
    yield "twist", ["--convention", "openvat", "--texture", "offset:float", "--texture", "normal:half"]
    for engine in ("gltf", "unity", "unreal", "blender"):
        to = ["--convention", "sidefx", "--for", engine]
        yield "twist", [*to, "--mode", "soft"]
        yield "twist", [*to, "--mode", "soft", "--compressed-normals"]
        yield "changes", [*to, "--mode", "remesh"]
        yield "changes", [*to, "--mode", "remesh", "--texture", "position:two_unorm8", "--texture", "normal:unorm8", "--max-side", "1024"]
        yield "particles", to
        yield "shards", [*to, "--mode", "rigid"]


def baked(program, sequence, options, out):
    """All files below `out` but reports, or nothing where the program refuses."""
    words = [program, "bake", "vat", sequence, *options, "-o", out, "--quiet", "--no-sync"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip()
    files = (f for f in out.rglob("*") if f.is_file() and f.suffix != ".html")
    return {str(f.relative_to(out)): f.read_bytes() for f in files}, ""


def in_chunks(program, sequence, options, folder):
    """The same by the steps of a farm, two chunks each, the later frames first."""
    work, out = folder / "work", folder / "chunks"
    steps = [["scan", sequence, *options], ["plan"], ["bake"], ["assemble"]]
    for step, *more in steps:
        for chunk in (["2/2", "1/2"] if step in ("scan", "bake") else [None]):
            words = [program, "vat", step, *more, "--work", work, "--quiet"]
            words += ["--chunk", chunk] if chunk else []
            words += ["-o", out] if step == "assemble" else []
            done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
            if done.returncode:
                return None, done.stderr.strip()
    files = (f for f in out.rglob("*") if f.is_file() and f.suffix != ".html")
    return {str(f.relative_to(out)): f.read_bytes() for f in files}, ""


def differences(a, b):
    if a is None or b is None:
        return [] if a is b else ["only one of the programs bakes it"]
    names = sorted(a.keys() | b.keys())
    return [name for name in names if content(a.get(name)) != content(b.get(name))]


def content(data):
    """The bytes; of a GLB its JSON, whose keys have no order, and the bytes behind it."""
    if data is None or data[:4] != b"glTF":
        return data
    size = int.from_bytes(data[12:16], "little")
    return json.loads(data[20 : 20 + size]), data[20 + size :]


parser = argparse.ArgumentParser()
parser.add_argument("old")
parser.add_argument("new")
parser.add_argument("--data", type=pathlib.Path)
parser.add_argument("--only", default="")
arguments = parser.parse_args()
count, refused, wrong = 0, [], 0
with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    known = sequences(folder, arguments.data)
    for number, (name, options) in enumerate(bakes()):
        title = " ".join([name, *options])
        if name not in known or arguments.only not in title:
            continue
        place = folder / str(number)
        before, message = baked(arguments.old, known[name], options, place / "old")
        after, error = baked(arguments.new, known[name], options, place / "new")
        found = differences(before, after)
        if before is None:
            refused.append(f"{title}: {message.splitlines()[0]}")
        elif not found and number % 7 == 0:
            chunks, error = in_chunks(arguments.new, known[name], options, place)
            found = [f"in chunks: {f}" for f in differences(before, chunks)]
        count, wrong = count + 1, wrong + bool(found)
        if found:
            print(f"{title}: {', '.join(found)} {error}")
        shutil.rmtree(place, ignore_errors=True)
for line in refused:
    print(f"both refuse: {line}")
print(f"{count} bakes, {len(refused)} refused by both, {wrong} differ")
sys.exit(wrong > 0 or count == len(refused))
