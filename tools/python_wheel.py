"""Packs a compiled native module and the Python package into a wheel, as maturin does: `python_wheel.py MODULE.so OUT_FOLDER`.

CI has the module from its own build of the workspace. Releases are built by maturin (see TESTING.md).
"""

import base64
import hashlib
import pathlib
import re
import sys
import sysconfig
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = HERE / "bindings" / "sinew-py"


def metadata(project: dict, version: str) -> str:
    """Core metadata of the package."""
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}"]
    lines.append(f"Summary: {project['description']}")
    lines.append(f"Requires-Python: {project['requires-python']}")
    lines += [f"Requires-Dist: {name}" for name in project["dependencies"]]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (PACKAGE / "README.md").read_text(encoding="utf-8")


def main(module: str, folder: str) -> None:
    """Writes the wheel and prints its path."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    manifest = (HERE / "Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "([^"]+)"', manifest, re.MULTILINE).group(1)
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"cp310-abi3-{platform}"
    stem = f"{project['name'].replace('-', '_')}-{version}"
    files = {}
    source = PACKAGE / "python"
    for path in sorted(source.rglob("*")):
        if path.is_file() and path.suffix in {".py", ".pyi", ".typed"} or path.name == "py.typed":
            files[path.relative_to(source).as_posix()] = path.read_bytes()
    files["sinew_deform/_native.abi3.so"] = pathlib.Path(module).read_bytes()
    info = f"{stem}.dist-info"
    files[f"{info}/METADATA"] = metadata(project, version).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: sinew\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    scripts = "".join(f"{name} = {target}\n" for name, target in project["scripts"].items())
    files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}".encode()
    record = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}\n")
    record.append(f"{info}/RECORD,,\n")
    files[f"{info}/RECORD"] = "".join(record).encode()
    out = pathlib.Path(folder) / f"{stem}-{tag}.whl"
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            wheel.writestr(zipfile.ZipInfo(name), data)
    print(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
