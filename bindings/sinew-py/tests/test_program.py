"""The package against the program `sinew`: the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import REPOSITORY

import sinew_deform as sd

NODES = REPOSITORY / "crates" / "sinew-deform" / "src"
GRAPHS = [
    ("skin/skin_dual_quaternion", "arm"),
    ("delta_mush/skin_delta_mush", "arm"),
    ("direct_delta_mush/direct_delta_mush", "arm"),
    ("morph/morph", "arm"),
    ("smooth/smooth", "arm"),
    ("wrap/wrap", "arm"),
    ("spring_joints/spring_joints", "arm"),
    ("taper/taper_follows", "arm"),
    ("squash_stretch/squash_stretch", "ball"),
    ("lattice/lattice", "ball"),
    ("noise/noise", "ball"),
    ("hair_sim/hair", "head"),
]


@pytest.mark.parametrize(("graph", "sample"), GRAPHS)
def test_positions_are_those_of_the_program(program: str, tmp_path: Path, graph: str, sample: str) -> None:
    file, out = NODES / f"{graph}.json", tmp_path / "out.npz"
    command = [program, "run", f"sample:{sample}", "--graph", str(file), "--frames", "0-6", "-o", str(out), "-q"]
    subprocess.run(command, check=True)
    expected = np.load(out)["positions"]
    player = sd.Player(sd.Character.sample(sample), sd.Graph.load(file))  # type: ignore[arg-type]
    name = next(n for n in player.outputs if player[n].kind in ("mesh", "strands"))
    for frame in range(7):
        player.advance(frame)
        np.testing.assert_array_equal(player[name].positions(), expected[frame])


def test_the_script_is_the_program(console_script: str, tmp_path: Path) -> None:
    out = tmp_path / "arm.npz"
    done = subprocess.run([console_script, "run", "sample:arm", "--frames", "3", "-o", str(out)], check=True, text=True, stderr=subprocess.PIPE)
    assert "arm.npz" in done.stderr
    player = sd.Player(sd.Character.sample("arm"))
    player.advance(3)
    np.testing.assert_array_equal(np.load(out)["positions"][0], player["body"].positions())


@pytest.mark.short
def test_the_script_ends_with_the_code_of_the_command(console_script: str) -> None:
    assert subprocess.run([console_script, "run"], capture_output=True, check=False).returncode == 2
    assert subprocess.run([console_script, "inspect", "none.glb"], capture_output=True, check=False).returncode == 3
    version = subprocess.run([console_script, "--version"], capture_output=True, check=True, text=True).stdout
    assert sd.__version__ in version


def test_ctrl_c_stops_the_script(console_script: str, tmp_path: Path) -> None:
    command = [console_script, "run", "sample:arm", "--frames", "0-900000", "-o", str(tmp_path / "x.npz"), "--log-format", "json"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    # Until the first progress, the program may not listen yet.
    assert any('"progress"' in line for line in running.stderr)
    os.kill(running.pid, signal.SIGINT)
    running.stderr.close()
    assert running.wait(timeout=20) == 130
    assert not (tmp_path / "x.npz").exists()
