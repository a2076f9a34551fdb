"""SciPy's RBFInterpolator on the drivers of `cargo bench -p sinew-deform -- pose_driver`: 20 rotations, one-hot values, one query at a
time and many at once. Needs numpy and scipy; run it beside the benchmark, on the same core."""

import time

import numpy as np
from scipy.interpolate import RBFInterpolator


def rotations(count):
    """The rotation matrices of the benchmark's quaternions, as rows of nine numbers: chordal distance up to a factor."""
    out = []
    for i in range(count):
        z = 1 - 2 * (i + 0.5) / count
        around = i * 2.399963229728653
        across = np.sqrt(1 - z * z)
        axis = np.array([across * np.cos(around), across * np.sin(around), z])
        angle = 0.4 + 2.0 * ((i * 0.618) % 1)
        k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        out.append((np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k).ravel())
    return np.array(out)


def best(run, times):
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        durations.append(time.perf_counter() - start)
    return min(durations)


poses = rotations(20)
solver = RBFInterpolator(poses, np.eye(20), kernel="gaussian", epsilon=1.0, degree=-1)
one, many = rotations(100)[:1], rotations(100_000)
print(f"one query of 20 poses: {best(lambda: solver(one), 2000) * 1e6:.2f} us")
print(f"in a batch of 100,000: {best(lambda: solver(many), 5) / 1e5 * 1e9:.0f} ns a query")
big = rotations(100)
setup = lambda: RBFInterpolator(big, np.eye(100), kernel="gaussian", epsilon=1.0, degree=-1)
print(f"setup of 100 poses: {best(setup, 50) * 1e3:.2f} ms")
