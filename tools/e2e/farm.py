"""Checks the job templates in farm/ and runs them with `openjd`: whole, then killed half-way and run again. The files must be those of
the plain commands.

    python farm.py SINEW FOLDER

SINEW is the program, FOLDER is for outputs. Needs numpy and openjd-cli.
"""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
FARM = HERE.parent.parent / "farm"
OPENJD = [sys.executable, "-m", "openjd"]

# Stands for the program. Its call number $KILL_CALL dies by SIGKILL as soon as $KILL_WHEN is there, or at once where that is empty.
KILLER = """#!/bin/bash
echo >>"$CALLS"
if [ "$(wc -l <"$CALLS")" -ne "$KILL_CALL" ]; then exec "$REAL" "$@"; fi
if [ -n "$KILL_WHEN" ]; then
  "$REAL" "$@" &
  until compgen -G "$KILL_WHEN" >/dev/null || ! kill -0 $!; do :; done
  kill -KILL $!
  wait $!
fi
kill -KILL $$
"""

# Hair that falls from a head; waves that need no state.
SWING = """{"sinew": "1.0", "inputs": {"pose": {"type": "pose"}, "hair": {"type": "strands"}},
 "nodes": {"sim": {"node": "hair_sim", "strands": "hair", "pose": "pose"}}, "outputs": {"hair": "sim"}}"""
STILL = """{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "stack": [{"node": "transform"}]}"""
WAVE = """{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}}, "stack": [{"node": "morph", "pose": "pose"},
 {"node": "sine", "amplitude": 0.1, "phase": {"keys": [[0.0, 0.0], [0.8, 6.2832]]}}]}"""


def files_of(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class Farm:
    def __init__(self, sinew, out):
        self.sinew, self.out = sinew, out
        self.killer, self.calls, self.failures = out / "killer", out / "calls", []
        self.killer.write_text(KILLER)
        self.killer.chmod(self.killer.stat().st_mode | stat.S_IXUSR)

    def expect(self, holds, what):
        if not holds:
            print(f"FAILED: {what}")
            self.failures.append(what)

    def direct(self, *words):
        done = subprocess.run([self.sinew, *map(str, words), "--quiet"], capture_output=True, text=True)
        self.expect(done.returncode == 0, f"{words}: {done.stderr}")

    def job(self, template, parameters, **more):
        words = [*OPENJD, "run", FARM / template]
        for name, value in parameters.items():
            words += ["-p", f"{name}={value}"]
        done = subprocess.run(words, capture_output=True, text=True, env=os.environ | more)
        return done.returncode == 0, done.stdout + done.stderr

    def check(self, template, parameters, wanted, kill, kept=None):
        """Holds a job against the folder `wanted`: run once, and killed in its call number kill[0], as soon as kill[1] is there, and run
        again. The second run must not make the file `kept` again."""
        name = template.removesuffix(".yaml")
        wanted = files_of(self.out / wanted)
        self.expect(wanted, f"{name}: there is something to compare with")

        def settings(folder, program):
            paths = {"OutputDir": folder / "out", "Sinew": program}
            if template == "bake_vat.yaml":
                paths["Work"] = folder / "work"
            return parameters | paths

        whole, killed = self.out / f"{name}-whole", self.out / f"{name}-killed"
        good, log = self.job(template, settings(whole, self.sinew))
        self.expect(good, f"openjd run {template}: {log}")
        self.expect("openjd_progress: 100" in log, f"{name} tells how far it is: {log}")
        self.expect("\twarning: " not in log, f"{name} has nothing to warn of: {log}")
        self.expect(files_of(whole / "out") == wanted, f"{name} writes what the plain command writes")

        when = killed / kill[1] if kill[1] else ""
        self.calls.write_text("")
        environment = {"REAL": self.sinew, "CALLS": str(self.calls), "KILL_CALL": str(kill[0]), "KILL_WHEN": str(when)}
        good, log = self.job(template, settings(killed, self.killer), **environment)
        self.expect(not good, f"{name} is killed: {log}")
        half = files_of(killed / "out") if (killed / "out").exists() else {}
        shown = {f: b for f, b in half.items() if f in wanted}
        self.expect(len(shown) < len(wanted), f"{name} is killed half-way")
        self.expect(all(wanted[f] == b for f, b in shown.items()), f"{name}: what a killed job leaves under its name is complete")
        made = (killed / "out" / kept).stat().st_mtime_ns if kept else None
        good, log = self.job(template, settings(killed, self.sinew))
        self.expect(good, f"openjd run {template} again: {log}")
        left = {f for f in files_of(killed / "out") if not pathlib.Path(f).name.startswith(".sinew-")}
        self.expect(left == set(wanted), f"{name}: nothing but the results is left: {sorted(left ^ set(wanted))}")
        again = {f: b for f, b in files_of(killed / "out").items() if f in wanted}
        self.expect(again == wanted, f"{name}, killed and run again, writes what the plain command writes")
        if kept:
            self.expect((killed / "out" / kept).stat().st_mtime_ns == made, f"{name} goes on where it was killed")
        print(f"{template}: {len(wanted)} files, the same in chunks, killed and run again")

    def plays(self, template, parameters, words):
        """A job writes what the plain command writes, whose words end with its output. Without the point cache that is something else."""
        name = f"cached-{template.removesuffix('.yaml')}"
        good, log = self.job(template, parameters | {"OutputDir": self.out / name / "job", "Sinew": self.sinew})
        self.expect(good, f"openjd run {template} with a point cache: {log}")
        *words, output = words
        command = 2 if words[0] == "bake" else 1
        character, graph = parameters["Character"], ["--graph", parameters["Graph"]]
        for folder, more in [("plain", ["--point-cache", parameters["PointCache"]]), ("still", [])]:
            out = self.out / name / folder / output
            self.direct(*words[:command], character, *graph, *more, *words[command:], out)
        job, plain, still = (files_of(self.out / name / folder) for folder in ("job", "plain", "still"))
        self.expect(plain and job == plain, f"{template} with a point cache writes what the plain command writes")
        self.expect(job != still, f"{template} plays its point cache")


def main():
    sinew, out = (str(pathlib.Path(a).absolute()) for a in sys.argv[1:3])
    out = pathlib.Path(out)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    farm = Farm(sinew, out)
    templates = sorted(FARM.glob("*.yaml"))
    for template in templates:
        done = subprocess.run([*OPENJD, "check", template], capture_output=True, text=True)
        farm.expect(done.returncode == 0, f"openjd check {template.name}: {done.stdout}")

    run = lambda *words: subprocess.run([sys.executable, *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    run(HERE / "make_probe.py", out)
    run(HERE / "make_twist.py", out / "twist")
    for more in ["twist.npz", *(f"twist_{number:04}.obj" for number in range(6, 10))]:
        (out / "twist" / more).unlink()
    body, head, twist = out / "probe.glb", out / "head.glb", out / "twist"
    wave, swing = out / "wave.json", out / "swing.json"
    wave.write_text(WAVE)
    swing.write_text(SWING)
    hair = "--density scalp --comb comb --count 40 --length 0.1 --vertices 8"
    farm.direct("hair", "grow", "sample:head", *hair.split(), "-o", head)

    moving = {"Character": body, "Graph": wave}
    played = ["run", body, "--graph", wave, "--frames"]
    farm.direct(*played, "0-10", "-o", out / "run" / "frame_####.ply")
    farm.check("run.yaml", moving | {"Frames": "0-10", "ChunkSize": 4}, "run", (2, "out/frame_0005.ply"))
    # The mesh that the plain command moved, as a point cache: everything that plays a graph takes it.
    cache, still = out / "wave.pc2", out / "still.json"
    still.write_text(STILL)
    farm.direct(*played, "0-4", "-o", cache)
    cached = {"Character": body, "Graph": still, "PointCache": cache}
    for template, more, words in [
        ("run.yaml", {"Frames": "0-4", "ChunkSize": 3}, ["run", "--frames", "0-4", "-o", "frame_####.ply"]),
        ("run_one_file.yaml", {"Last": 4}, ["run", "--frames", "0-4", "-o", "animation.glb"]),
        ("run_sim.yaml", {"Last": 4, "ChunkSize": 3}, ["run", "--frames", "0-4", "-o", "frame_####.ply"]),
        ("render.yaml", {"Frames": "3-4", "Fit": "3-4"}, ["render", "--frames", "3-4", "--device", "cpu", "-o", "picture_####.png"]),
        ("bake_vat.yaml", {"Chunks": 2, "Work": out / "cached-work"}, ["bake", "vat", "-o", "."]),
    ]:
        farm.plays(template, cached | more, words)
    # Long enough to be killed while its frames wait in a temporary file.
    farm.direct(*played, "0-600", "--fps", "1800", "-o", out / "file" / "animation.npz")
    many = {"Last": 600, "Format": "npz", "Arguments": "--fps 1800"}
    farm.check("run_one_file.yaml", moving | many, "file", (1, "out/.sinew-*"))

    falls = ["run", head, "--graph", swing, "--frames"]
    farm.direct(*falls, "0-10", "-o", out / "sim" / "hair_####.ply")
    moved = files_of(out / "sim").values()
    farm.expect(len(set(moved)) == len(moved), "hair moves in every frame")
    falling = {"Character": head, "Graph": swing, "Last": 10, "ChunkSize": 3, "Name": "hair"}
    farm.check("run_sim.yaml", falling, "sim", (3, "out/hair_0007.ply"), kept="hair_0002.ply")
    report = subprocess.run([sinew, "check", swing, "--log-format", "json"], capture_output=True, text=True).stderr
    farm.expect(json.loads(report)["solvers"] == ["sim"], f"sinew check says what simulates: {report}")

    drawn = ["--size", "64x64", "--device", "cpu"]
    farm.direct("render", body, "--graph", wave, "--frames", "0-4", *drawn, "-o", out / "pictures" / "picture_####.png")
    small = {"Frames": "0-4", "Fit": "0-4", "ChunkSize": 2, "Arguments": "--size 64x64"}
    farm.check("render.yaml", moving | small, "pictures", (2, "out/picture_0002.png"))

    farm.direct("bake", "vat", twist, "--mode", "remesh", "-o", out / "vat")
    baked = {"Sequence": twist, "Chunks": 3, "Arguments": "--mode remesh"}
    farm.check("bake_vat.yaml", baked, "vat", (6, "work/texels/000004.texels"))

    skin = out / "skin"
    farm.direct("bake", "skin", body, "--graph", wave, "-o", skin / "baked.glb", "--report", skin / "baked_report")
    farm.check("bake_skin.yaml", moving, "skin", (1, ""))
    checked = {"run.yaml", "run_one_file.yaml", "run_sim.yaml", "render.yaml", "bake_vat.yaml", "bake_skin.yaml"}
    farm.expect({t.name for t in templates} == checked, "every template is run")
    sys.exit(1 if farm.failures else 0)


main()
