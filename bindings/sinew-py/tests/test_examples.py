"""The scripts and the notebook of /examples/python, and the code of the pages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

EXAMPLES = REPOSITORY / "examples" / "python"
PAGES = [REPOSITORY / "README.md", REPOSITORY / "docs" / "python.md", REPOSITORY / "bindings" / "sinew-py" / "README.md"]


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.stem)
def test_a_script_runs(script: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 0 < len(done.stdout.splitlines()) <= 12
    # Graphics drivers write there, too.
    assert "Warning" not in done.stderr


def test_the_notebook_runs(tmp_path: Path) -> None:
    """Its cells, one after another, as Jupyter runs them."""
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 4
    run_code("display = print\n" + "\n".join(cells), tmp_path)


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(REPOSITORY)))
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    """All blocks of a page in order: later ones use names of earlier ones. `hero.glb` is a character with a clip `walk`."""
    make_hero(tmp_path)
    found = blocks(page)
    assert found
    run_code("\n".join(found), tmp_path)


def make_hero(folder: Path) -> None:
    code = "import sinew_deform as sd; "
    code += "sd.embed('sample:creature', sd.Graph.from_nodes('morph', 'skin'), output='hero.glb')"
    run_code(code, folder)


def run_code(code: str, folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
