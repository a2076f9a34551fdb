"""Type checkers accept right uses and reject wrong ones; the stub is what the module has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import skip

RIGHT = """
import threading
from pathlib import Path
import numpy as np
import sinew_deform as sd

arm: sd.Character = sd.load(Path("hero.glb"))
mask = sd.nodes.mask(mesh="body", pose="pose", source="joint", joints=["forearm"])
graph = sd.Graph.from_nodes(
    "skin",
    sd.nodes.delta_mush(iterations=8, weights="cotangent", blend=sd.param("blend", default=1.0), mask=mask),
    sd.nodes.bend(angle_degrees=sd.keys((0, 0), (1, 60)), transform=np.eye(4)),
    sd.nodes.taper(curve=sd.link("elbow", "swing")),
    outputs={"body": "bend", "mask": mask},
)
player = sd.Player(arm, graph, device="gpu", set={"blend": 0.5}, values={"weights": [1.0, 2.0]})
player.advance(1)
player.advance_posed(2, np.zeros((3, 4, 4)), ["a", "b", "c"], space="skin")
positions = player["body"].positions(out=np.zeros((3, 3), np.float32))
largest: float = float(positions.max())
report: sd.Report = sd.run(arm, graph, output=["a.npz", Path("b.pc2")], frames=range(10), cancel=threading.Event())
pixels = sd.render("sample:arm", size=(640, 480))
height: int = pixels.shape[0]
sd.render("sample:arm", output="a.png").warnings
sd.bake_vat(arm, output="bake", texture=["position:u16"], mode="soft")
try:
    sd.psd.check(graph)
except sd.GraphError as error:
    first: str = error.diagnostics[0].message
"""

# Each line alone is wrong.
WRONG = [
    'sd.nodes.delta_mush(iterations="many")',
    'sd.nodes.delta_mush(iteratons=8)',
    "sd.nodes.delta_mush(8)",
    'sd.nodes.delta_mush(weights="cotan")',
    'sd.nodes.delta_mush(preset="hard")',
    "sd.nodes.delta_mush(mask=0.5)",
    'sd.Player(arm, device="cuda")',
    'sd.Player(3)',
    'sd.Character.sample("leg")',
    'player.advance("1")',
    'player.advance_posed(1, np.zeros((1, 4, 4)), space="world")',
    'sd.run(arm)',
    'sd.run(arm, output=3)',
    'sd.run(arm, output="a.npz", frame=3)',
    'sd.run(arm, output="a.npz", device="cuda")',
    'sd.render(arm, size=(1, 2, 3))',
    'sd.render(arm, output="a.png").shape',
]
BEFORE = "import numpy as np\nimport sinew_deform as sd\narm = sd.Character.sample('arm')\nplayer = sd.Player(arm)\n"


# What the module has besides the stub, and what the checker does not know of dataclasses and caches.
ALLOWED = [
    r"sinew_deform\.hosts\.maya",
    r"sinew_deform\._native\.__all__",
    r"sinew_deform\._arrays\.Mesh\.faces",
    r"sinew_deform\.graph\._parameter_types",
]


def mypy(folder: Path, text: str) -> list[str]:
    file = folder / "sample.py"
    file.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", "--cache-dir", str(folder), str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder).stdout.splitlines()


@pytest.fixture(autouse=True)
def needs_mypy() -> None:
    if subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True, check=False).returncode != 0:
        skip("mypy is not installed")


def test_right_uses_are_accepted(tmp_path: Path) -> None:
    assert mypy(tmp_path, RIGHT) == []


def test_wrong_uses_are_rejected(tmp_path: Path) -> None:
    found = mypy(tmp_path, BEFORE + "\n".join(WRONG) + "\n")
    first = BEFORE.count("\n") + 1
    lines = {int(line.split(":")[1]) for line in found if ": error:" in line}
    missed = [text for i, text in enumerate(WRONG) if first + i not in lines]
    assert missed == []
    assert min(lines) >= first


def test_the_package_itself_has_no_errors(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), "-p", "sinew_deform"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_the_stub_is_what_the_module_has(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text("\n".join(ALLOWED))
    command = [sys.executable, "-m", "mypy.stubtest", "sinew_deform", "--allowlist", str(allowed), "--ignore-unused-allowlist"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
