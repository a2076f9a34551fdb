"""Plays a scene and measures each frame."""

import hashlib
import inspect
import math
import time

import numpy as np
import sinew_deform as sd

from .scenes import SCENES

GRAVITY = 9.81
# Vertices at the root that follow it.
PINNED = 2
# Points of a segment that are judged, from its start to its end.
SHARES = np.array([0.2, 0.35, 0.5, 0.65, 0.8])


class Measures:
    """What one run shows, frame by frame."""

    def __init__(self, scene, rest, fps, seconds):
        self.scene, self.fps = scene, fps
        self.end = scene.moving + seconds
        lengths = np.linalg.norm(np.diff(rest, axis=1), axis=2)
        self.lengths = lengths
        # Lumped from lengths, of free vertices.
        mass = np.pad(lengths, ((0, 0), (1, 0))) / 2 + np.pad(lengths, ((0, 0), (0, 1))) / 2
        self.mass = mass[:, PINNED:]
        self.vertex = self.segment = self.stretch = 0.0
        self.speeds = np.zeros(len(rest))
        self.tips, self.energy, self.digest = [], [], hashlib.blake2b()
        self.before = None

    def add(self, frame, hair, solid):
        """Takes strands (s, n, 3) of a frame, and where the solid is."""
        t = frame / self.fps
        self.digest.update(hair.tobytes())
        hair = hair.astype(np.float64)
        if frame % (self.fps // 30) == 0:
            self.tips.append(hair[:, -1])
        if self._is_judged(frame):
            self._judge(hair, solid)
        if self.before is not None:
            self._move(t, hair)
        self.before = hair

    def _is_judged(self, frame):
        """Whether a judged time is within this frame."""
        first, every = self.scene.judged
        count = [math.floor((n / self.fps - first) / every + 1e-9) for n in (frame, frame - 1)]
        return count[0] >= 0 and count[0] > count[1]

    def _judge(self, hair, solid):
        longer = np.linalg.norm(np.diff(hair, axis=1), axis=2) - self.lengths
        # The mohawk has segments of less than a micrometre, which is the rounding of positions.
        share = np.abs(longer) / np.maximum(self.lengths, 0.01 * self.lengths.mean())
        self.stretch = max(self.stretch, share[:, PINNED - 1 :].max())
        if self.scene.depths is None:
            return
        hair = (hair - solid[:3, 3]) @ solid[:3, :3]
        start, end = hair[:, PINNED:-1, None], hair[:, PINNED + 1 :, None]
        along = start + (end - start) * SHARES[:, None]
        points = np.concatenate([start, along], axis=2).reshape(len(hair), -1, 3)
        found = self.scene.depths(np.concatenate([points, hair[:, -1:]], axis=1))
        last, inner = found[:, -1], found[:, :-1].reshape(len(hair), -1, 1 + len(SHARES))
        self.vertex = max(self.vertex, inner[..., 0].max(), last.max())
        self.segment = max(self.segment, inner[..., 1:].max())

    def _move(self, t, hair):
        velocity = (hair - self.before) * self.fps
        if t > self.end - 0.3 + 1e-9:
            self.speeds = np.maximum(self.speeds, np.linalg.norm(velocity, axis=2).max(axis=1))
        if t > max(self.scene.moving, 0 if self.scene.free else 0.3) + 1e-9:
            # Both energies belong to the time between two frames, so that the error is of second order.
            middle = (hair + self.before)[:, PINNED:, 1] / 2
            squared = np.sum(velocity[:, PINNED:] ** 2, axis=2)
            self.energy.append(np.sum(self.mass * (squared / 2 + GRAVITY * middle), axis=1))

    def energies(self):
        """Largest rise, as mm of lift; for free strands also shares of the start."""
        energy = np.array(self.energy)
        if not len(energy):
            return {}
        rise = (energy - np.minimum.accumulate(energy)).max(axis=0)
        out = {"energy_rise_mm": (rise / (GRAVITY * self.mass.sum(axis=1))).max() * 1e3}
        if self.scene.free:
            # Zero: all free vertices hang straight down.
            reach = np.cumsum(self.lengths[:, PINNED - 1 :], axis=1)
            lowest = np.sum(self.mass * GRAVITY * (self.before[:, PINNED - 1, 1, None] - reach), axis=1)
            share = (energy - lowest) / (energy[0] - lowest)
            out["energy_rise_share"] = (share - np.minimum.accumulate(share)).max()
            out["energy_left"] = {t: share[round(t * self.fps) - 1].max() for t in (1, 2, 5) if t * self.fps <= len(share)}
        return out


def play(name, variant, options, fps, seconds, judged=False, limp=False):
    """One run of a scene, in this process: numbers, tips and the last frame. Depths only if `judged`."""
    scene = SCENES[name](options, variant == "grid")
    if limp:
        known = inspect.signature(sd.nodes.hair_sim).parameters
        scene.document["nodes"]["sim"] |= {k: v for k, v in scene.limp.items() if k in known}
    if not judged:
        scene.depths = None
    graph = sd.Graph.from_dict(scene.document)
    player = sd.Player(scene.character, graph, fps=fps, inputs=scene.inputs, normals=False, profile=True, device=options.device)
    player.set_clip(None)
    counts = player["hair"].strand_counts
    if len(set(counts.tolist())) != 1:
        raise SystemExit(f"error: {name}: found strands of {sorted(set(counts.tolist()))} vertices, expected one number")
    shape = (len(counts), int(counts[0]), 3)
    measures, timing = Measures(scene, hair_at_rest(scene, shape[1]), fps, seconds), Timing()
    last = round((scene.moving + seconds) * fps)
    for frame in range(last + 1):
        t = min(frame / fps, scene.moving)
        timing.frame(player, frame, scene.pose(t), scene.joints)
        hair = player["hair"].positions().reshape(shape)
        measures.add(frame, hair, scene.solid(t))
    return report(measures, timing, scene, hair)


def hair_at_rest(scene, vertices):
    """Strands at rest (s, n, 3). Followers have the shape of their guide."""
    source = sd.load(scene.inputs["hair"]) if "hair" in scene.inputs else scene.character
    guides = source.strands[0].positions.reshape(-1, vertices, 3).astype(np.float64)
    return np.repeat(guides, scene.bundle, axis=0)


class Timing:
    """Seconds of frames after the first."""

    def __init__(self):
        self.wall, self.cpu, self.node = [], [], []

    def frame(self, player, number, matrices, joints):
        wall, cpu = time.perf_counter(), time.process_time()
        player.advance_posed(number, matrices, joints=joints)
        if number:
            self.wall.append(time.perf_counter() - wall)
            self.cpu.append(time.process_time() - cpu)
            self.node.append(sum(s for node, s in player.node_times() if "sim" in node.split(" + ")))

    def milliseconds(self):
        """Medians: other work on the machine makes means too long."""
        return {f"{key}_ms": np.median(getattr(self, key)) * 1e3 for key in ("wall", "cpu", "node")}


def report(measures, timing, scene, hair):
    """What a run hands back, as plain numbers and arrays."""
    finite = bool(np.isfinite(hair).all())
    speeds = measures.speeds * 1e3 if finite else np.full(len(hair), np.inf)
    meshes, end = scene.character.meshes, scene.solid(scene.moving)
    return {
        "strands": len(hair),
        "vertices": hair.shape[1],
        "moving": scene.moving,
        "numbers": {
            "vertex_mm": measures.vertex * 1e3,
            "segment_mm": measures.segment * 1e3,
            "stretch": measures.stretch,
            "rest_max_mm_s": speeds.max(),
            "rest_median_mm_s": np.median(speeds),
            "restless": int((~(speeds <= 1)).sum()),
            "guides_restless": int((~(speeds[:: scene.bundle] <= 1)).sum()),
            **timing.milliseconds(),
        },
        "energy": measures.energies(),
        "tips": np.array(measures.tips),
        "digest": measures.digest.hexdigest(),
        "hair": hair,
        "body": meshes[0].positions @ end[:3, :3].T + end[:3, 3] if meshes else None,
        "triangles": meshes[0].triangles if meshes else None,
    }
