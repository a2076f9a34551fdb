"""What several tests use."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import sinew_deform as sd

REPOSITORY = Path(__file__).resolve().parents[3]
SHARED = REPOSITORY.parent / "shared" / "data"


def skip(reason: str) -> None:
    """Skips the test; the checks look for the word."""
    print(f"skipped: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def program() -> str:
    """The program `sinew`: SINEW names it."""
    named = os.environ.get("SINEW")
    if named is None:
        skip("SINEW does not name the program")
    return str(named)


@pytest.fixture(scope="session")
def console_script() -> str:
    """The script `sinew` of the installed package."""
    found = shutil.which("sinew", path=str(Path(sys.executable).parent))
    if found is None:
        skip("the package is not installed")
    return str(found)


@pytest.fixture(scope="session")
def arm() -> sd.Character:
    return sd.Character.sample("arm")


@pytest.fixture(scope="session")
def ball() -> sd.Character:
    return sd.Character.sample("ball")


def triangle(**more: object) -> sd.Character:
    """One triangle, of which joint 0 moves vertex 0, and joint 1, 2 m above, the others."""
    up = np.eye(4)
    up[1, 3] = 2.0
    mesh = sd.Mesh(
        "triangle",
        [[0, 0, 0], [1, 2, 0], [0, 2, 1]],
        faces=[[0, 1, 2]],
        joint_indices=[[0], [1], [1]],
        joint_weights=[[1], [1], [1]],
    )
    joints = [sd.Joint("root", None, np.eye(4)), sd.Joint("top", 0, up)]
    return sd.Character.from_arrays("triangle", [mesh], joints, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def small() -> sd.Character:
    return triangle()
