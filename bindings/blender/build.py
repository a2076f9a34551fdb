"""Builds the Blender extension: `python bindings/blender/build.py -o FOLDER` writes FOLDER/sinew-VERSION.zip and prints its path.

Without wheels, it compiles one for this system, which needs Rust and a C++ compiler. With wheels, one for each system that the zip is for,
it compiles nothing. Needs Python 3.10.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "sinew"
VERSION = r'^version = "(.*)"$'
# Blender's names of systems, by tags of wheels.
PLATFORMS = {
    r"linux.*x86_64": "linux-x64",
    r"linux.*aarch64": "linux-arm64",
    r"macosx.*x86_64": "macos-x64",
    r"macosx.*arm64": "macos-arm64",
    r"win_amd64": "windows-x64",
    r"win_arm64": "windows-arm64",
}


def platform_of(wheel: pathlib.Path) -> str:
    """Blender's name of the system of a wheel."""
    tag = wheel.stem.split("-")[-1]
    for pattern, name in PLATFORMS.items():
        if re.search(pattern, tag):
            return name
    sys.exit(f"{wheel}: found the platform tag '{tag}', expected one of Linux, macOS or Windows")


def version() -> str:
    """Version of the workspace."""
    cargo = (HERE.parents[1] / "Cargo.toml").read_text(encoding="utf-8")
    return re.search(VERSION, cargo, re.MULTILINE)[1]


def manifest(wheels: list[pathlib.Path]) -> str:
    """The manifest with wheels and systems, and with the version of the workspace."""
    text = (SOURCE / "blender_manifest.toml").read_text(encoding="utf-8")
    text, count = re.subn(VERSION, f'version = "{version()}"', text, flags=re.MULTILINE)
    assert count == 1, "the manifest has one version"
    names = "".join(f'  "./wheels/{wheel.name}",\n' for wheel in wheels)
    platforms = ", ".join(f'"{name}"' for name in sorted({platform_of(w) for w in wheels}))
    head, tables = text.split("\n[permissions]", 1)
    return f"{head}\nplatforms = [{platforms}]\nwheels = [\n{names}]\n\n[permissions]{tables}"


def build(wheels: list[pathlib.Path], folder: pathlib.Path) -> pathlib.Path:
    """Writes the zip file."""
    for wheel in wheels:
        if not zipfile.is_zipfile(wheel):
            sys.exit(f"{wheel}: not a wheel. Build one with `maturin build --release` in bindings/sinew-py")
    text = manifest(wheels)
    out = folder / f"sinew-{version()}.zip"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(SOURCE.rglob("*")):
            name = path.relative_to(SOURCE).as_posix()
            if path.is_file() and "__pycache__" not in name and name != "blender_manifest.toml":
                archive.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo("blender_manifest.toml"), text, zipfile.ZIP_DEFLATED)
        for wheel in wheels:
            # Wheels are compressed already.
            archive.writestr(zipfile.ZipInfo(f"wheels/{wheel.name}"), wheel.read_bytes(), zipfile.ZIP_STORED)
    return out


def compiled(folder: str) -> list[pathlib.Path]:
    """A wheel for this system."""
    package = HERE.parent / "sinew-py"
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, str(package)], check=True)
    return list(pathlib.Path(folder).glob("*.whl"))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Builds the Blender extension.")
    parser.add_argument("wheels", nargs="*", type=pathlib.Path, help="wheels of sinew-deform, one for each system")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="folder for the zip file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(build(given.wheels or compiled(folder), given.output))


if __name__ == "__main__":
    main()
