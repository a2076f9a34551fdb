"""Plays hair in scenes that are hard for a solver, through the Python package, and measures it: `python hair_scenes.py [SCENE ...]`.

Prints one line a scene and run, and writes all numbers with `--json FILE`. Needs the package `sinew_deform` and SciPy; `--pictures` also
needs Pillow. `--list` prints the names. The columns, in their order:

- how deep free vertices and points of segments (five a segment) are in the true solid, every 0.1 s from 0.3 s on, in mm. Vertices 0 and 1
  and the segment behind them follow the root and do not count. The true solid is a closed form, or the mesh itself: no field of Sinew
- the largest stretch of a segment, as a share of its length, or of 1 % of the mean length if that is more
- the fastest vertex of each strand in the last 0.3 s: the maximum and the median of the strands in mm/s, and how many are above 1 mm/s
- the largest rise of kinetic and gravitational energy of a strand after the motion, as mm of lift of the whole strand: a run at 240 Hz
  with `local_stiffness` 0, in which nothing but an error of the solver does work
- tips at 30 and 60 Hz against 120 Hz, in mm: mean and largest during the motion (a second at least), mean at the end
- milliseconds a frame with two threads and with one, and of the node of the hair
- whether both runs, of some seconds, have the same bits

The energy of a chain that an exact integrator moves rises by 0.1 % (released at 10 degrees) and 4 % (80 degrees, whips) in this measure.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import sinew_deform as sd

from hair.measures import play
from hair.scenes import MESHES, QUICK, SCENES, Options, variants


class Workers:
    """A process for each number of threads: Sinew takes the number from its environment when it starts."""

    def __init__(self):
        self.pools = {}

    def run(self, threads, *arguments):
        if threads not in self.pools:
            os.environ["RAYON_NUM_THREADS"] = str(threads)
            self.pools[threads] = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        return self.pools[threads].submit(play, *arguments).result()

    def close(self):
        for pool in self.pools.values():
            pool.shutdown()


def whole(workers, name, variant, options, arguments):
    """All runs of a scene: the numbers of the line."""
    fps, threads, seconds = arguments.fps, arguments.threads, options.seconds
    run = lambda *keys: workers.run(keys[0], name, variant, options, *keys[1:])  # noqa: E731
    if name.startswith("pendulum"):
        main = run(threads, 240, 5.0, True)
        out = line_of(name, variant, main)
        return out | main["energy"], main
    main = run(threads, fps, seconds, True)
    out = line_of(name, variant, main)
    moving = main["moving"]
    short = [run(n, fps, min(moving + 1.0, 2.5) - moving) for n in (threads, 1)]
    out |= {"one_thread_ms": short[1]["numbers"]["wall_ms"], "same_bits": short[0]["digest"] == short[1]["digest"]}
    out["two_threads_ms"] = short[0]["numbers"]["wall_ms"]
    if not name.startswith(MESHES):
        out |= run(threads, 240, min(seconds, 2.0), False, True)["energy"]
    if not arguments.quick:
        out["rates"] = rates({r: main if r == fps else run(threads, r, seconds) for r in (30, 60, 120)}, moving)
    return out, main


def line_of(name, variant, main):
    return {"scene": name, "variant": variant, "strands": main["strands"], "vertices": main["vertices"], **main["numbers"]}


def rates(runs, moving):
    """Tips against those of the fastest frame rate, in mm: during the motion, and in the last frame."""
    during = round(max(moving, 1.0) * 30) + 1
    out = {}
    for fps in (30, 60):
        apart = np.linalg.norm(runs[fps]["tips"] - runs[120]["tips"], axis=2) * 1e3
        out[str(fps)] = {
            "motion_mean": apart[:during].mean(),
            "motion_max": apart[:during].max(),
            "end_mean": apart[-1].mean(),
            "end_max": apart[-1].max(),
        }
    return out


COLUMNS = (
    ("scene", 17), ("strands", 11), ("vertex", 7), ("segm.", 7), ("stretch", 8), ("rest max", 9), ("median", 7), ("moving", 11),
    ("rise", 7), ("30Hz: mean,max,end", 20), ("60Hz: mean,max,end", 20), ("2 thr.", 7), ("1 thr.", 7), ("node", 7), ("bits", 5),
)  # fmt: skip


def heading():
    units = ["", "", "mm", "mm", "share", "mm/s", "mm/s", ">1 mm/s", "mm", "mm", "mm", "ms", "ms", "ms", ""]
    rows = ([c for c, _ in COLUMNS], units)
    return "\n".join(" ".join(text.rjust(width) for text, (_, width) in zip(row, COLUMNS)) for row in rows)


def line(out):
    """One line of the table."""

    def number(key, digits=2):
        return f"{out[key]:.{digits}f}" if key in out else "-"

    def tips(fps):
        found = out.get("rates", {}).get(fps)
        return "-" if found is None else f"{found['motion_mean']:.1f},{found['motion_max']:.1f},{found['end_mean']:.2f}"

    cells = [
        f"{out['scene']} {out['variant']}", f"{out['strands']}x{out['vertices']}", number("vertex_mm", 3), number("segment_mm", 3),
        f"{out['stretch']:.0e}", number("rest_max_mm_s"), number("rest_median_mm_s"), f"{out['restless']}/{out['strands']}",
        number("energy_rise_mm"), tips("30"), tips("60"), number("two_threads_ms"), number("one_thread_ms"), number("node_ms"),
        {True: "same", False: "DIFF"}.get(out.get("same_bits"), "-"),
    ]  # fmt: skip
    text = " ".join(cell.rjust(width) for cell, (_, width) in zip(cells, COLUMNS))
    if "energy_left" in out:
        left = ", ".join(f"{share:.2f} after {t} s" for t, share in out["energy_left"].items())
        text += f"\n{'':17} energy left: {left}; largest rise {out['energy_rise_share']:.2%} of the start"
    return text


def picture(main, path):
    """Strands from the front and from the side, over the mesh."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (1280, 640), "white")
    low, high = main["hair"].min(axis=(0, 1)), main["hair"].max(axis=(0, 1))
    middle, scale = (low + high) / 2, 560 / (high - low).max()
    for view, across in enumerate((0, 2)):
        axes, mirror = [across, 1], np.array([scale, -scale])
        flat = lambda p: (p[..., axes] - middle[axes]) * mirror + 320  # noqa: B023, E731
        panel = Image.new("RGB", (640, 640), "white")
        draw = ImageDraw.Draw(panel)
        if main["triangles"] is not None:
            for a, b, c in flat(main["body"])[main["triangles"]]:
                draw.polygon([tuple(a), tuple(b), tuple(c)], fill=(225, 225, 230))
        for strand in flat(main["hair"]):
            draw.line([tuple(p) for p in strand], fill=(90, 50, 20))
        image.paste(panel, (640 * view, 0))
    image.save(path)


def arguments_of(argv):
    parser = argparse.ArgumentParser(description="Plays hair in hard scenes and measures it.")
    parser.add_argument("scenes", nargs="*", help="scenes to play, by the beginning of their names; default: all")
    parser.add_argument("--quick", action="store_true", help="fewer scenes, no comparison of frame rates: about a minute")
    parser.add_argument("--list", action="store_true", help="print the names of scenes")
    parser.add_argument("--variant", choices=["solid", "grid"], help="only this kind of collider")
    parser.add_argument("--fps", type=int, default=60, choices=[30, 60, 120, 240], help="frames per second; default: 60")
    parser.add_argument("--seconds", type=float, default=5.0, help="seconds without motion at the end; default: 5")
    parser.add_argument("--threads", type=int, default=2, help="threads of runs; one thread is measured besides; default: 2")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--preset", help="preset of hair_sim for all scenes; settings of a scene replace its values")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="parameter of hair_sim for all scenes; JSON")
    parser.add_argument("--data", default=str(Path(__file__).parents[2] / "shared" / "data" / "hair"), help="folder with the rat")
    parser.add_argument("--fur", type=int, default=3000, help="strands of fur; the benchmark has 82000; default: 3000")
    parser.add_argument("--mohawk", type=int, default=140, help="guides of the mohawk, at most about; the file has 2228; default: 140")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="draw the last frame of each scene")
    return parser.parse_args(argv)


def params_of(texts):
    """NAME=VALUE, the value as JSON or as text."""
    out = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            out[name] = json.loads(value)
        except json.JSONDecodeError:
            out[name] = value
    return out


def chosen(arguments):
    """Names of the scenes to play."""
    names = QUICK if arguments.quick else list(SCENES)
    out = [n for n in names if not arguments.scenes or n.startswith(tuple(arguments.scenes))]
    if not out:
        raise SystemExit(f"error: no scene begins with {arguments.scenes}; --list prints the names")
    return out


def main(argv=None):
    arguments = arguments_of(argv)
    if arguments.list:
        print("\n".join(SCENES))
        return
    found, workers = [], Workers()
    with tempfile.TemporaryDirectory() as folder:
        options = Options(
            arguments.seconds, arguments.preset, params_of(arguments.param), arguments.data, arguments.fur, arguments.mohawk, folder,
            arguments.device,
        )  # fmt: skip
        print(f"sinew_deform {sd.__version__}, {arguments.device}, {arguments.threads} threads, {arguments.fps} Hz")
        print(heading(), flush=True)
        for name in chosen(arguments):
            for variant in variants(name):
                if arguments.variant in (None, variant) or not variant:
                    play_all(workers, name, variant, options, arguments, found)
    workers.close()
    if arguments.json:
        document = {"version": sd.__version__, "command": sys.argv[1:], "scenes": found}
        arguments.json.write_text(json.dumps(document, indent=1, default=float))


def play_all(workers, name, variant, options, arguments, found):
    """Plays a scene, prints its line and keeps its numbers."""
    begun = time.perf_counter()
    try:
        out, run = whole(workers, name, variant, options, arguments)
    except FileNotFoundError as error:
        print(f"{name}: skipped: {error}", flush=True)
        return
    out["seconds"] = time.perf_counter() - begun
    found.append(out)
    print(line(out), flush=True)
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
        picture(run, arguments.pictures / f"{name}_{variant or 'free'}.png")


if __name__ == "__main__":
    main()
