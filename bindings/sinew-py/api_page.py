"""The page docs/python_api.md, from the stub and the docstrings of the package."""

from __future__ import annotations

import ast
import re
from pathlib import Path

INTRODUCTION = """# Python: API

All names of the package `sinew_deform`. [Python](python.md) shows how to use them. Editors show the same texts.

Arrays are float32 and C-contiguous. Matrices are float64 of shape (4, 4) with column vectors: `m[:3, 3]` is the translation. Scene space is
right-handed, Y up, in metres.
"""

# Modules in the order of the page: file, heading, introduction.
CLASSES = [
    ("_native.pyi", "Characters, graphs, players", "Names of `sinew_deform`."),
    ("_arrays.py", "Arrays of a character", "Arguments of `Character.from_arrays`. Lists and arrays of other types are converted."),
    ("graph.py", "Parts of a graph", "Names of `sinew_deform`; `document` and `transform` are in `sinew_deform.graph`."),
    ("_support.py", "Results of jobs", "What the functions of the next sections return."),
    ("_errors.py", "Errors", "All are `SinewError`. `UsageError` is a `ValueError`, too."),
]
FUNCTIONS = [
    ("jobs.py", "Jobs", "Commands of the [command line](cli.md) as functions of `sinew_deform`."),
    ("psd.py", "Jobs of pose drivers", "Functions of `sinew_deform.psd`."),
    ("vat.py", "Jobs of vertex animation textures", "Functions of `sinew_deform.vat`."),
]
HIDDEN = {"Arguments", "Cancel", "commands", "run_job", "cli", "read_picture", "to_json", "log_warnings", "log_event", "read_pixels", "as_pil", "plain"}
COMMON = ["allow_folder", "force", "no_sync", "trust", "progress", "cancel"]
LONGEST_CELL = 190


def api_page(package: Path) -> str:
    """The page. `package` is the folder of the package's sources."""
    parts = [INTRODUCTION]
    for file, heading, text in CLASSES:
        parts.append(f"## {heading}\n\n{text}\n")
        tree = ast.parse((package / file).read_text())
        parts += [entry(item) for item in tree.body if is_shown(item)]
    parts.append(common_arguments(package))
    for file, heading, text in FUNCTIONS:
        parts.append(f"## {heading}\n\n{text}\n")
        owner = "" if file == "jobs.py" else f"{file[:-3]}."
        parts += [function(item, 3, COMMON, owner) for item in jobs(package / file)]
    parts.append(nodes(package))
    return "\n".join(part.rstrip() + "\n" for part in parts if part)


def is_shown(item: ast.stmt) -> bool:
    if not isinstance(item, (ast.ClassDef, ast.FunctionDef)):
        return False
    return not item.name.startswith("_") and item.name not in HIDDEN


def entry(item: ast.stmt) -> str:
    return klass(item) if isinstance(item, ast.ClassDef) else function(item, 3)


def wrapped(text: str) -> str:
    """Paragraphs, as one line each; code of reStructuredText as that of Markdown."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return re.sub(r":\w+:`([^`]+)`", r"`\1`", "\n\n".join(lines(part) for part in paragraphs).replace("``", "`"))


def lines(paragraph: str, width: int = 130) -> str:
    out, line = [], ""
    for word in paragraph.split(" "):
        if line and len(line) + len(word) >= width:
            out.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*out, line])


def cell(text: str) -> str:
    """For a table: whole sentences up to a length, on one line."""
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", " ".join(text.split()).replace("``", "`")).replace("|", "\\|")
    if len(text) <= LONGEST_CELL:
        return text
    out = ""
    for sentence in re.split(r"(?<=[.;]) ", text):
        if out and len(out) + len(sentence) >= LONGEST_CELL:
            break
        out = f"{out} {sentence}".strip()
    out = f"{out[:-1]}." if out.endswith(";") else out
    return out if len(out) <= LONGEST_CELL else f"{out[: out.rindex(' ', 0, LONGEST_CELL)]} ..."


def split_docs(item: ast.ClassDef | ast.FunctionDef) -> tuple[str, dict[str, str], str]:
    """Text, arguments by name, and what it raises."""
    text = ast.get_docstring(item) or ""
    head, _, rest = text.partition("\nArgs:\n")
    if not rest:
        head, _, raises = text.partition("\nRaises:\n")
        return head, {}, raises
    arguments, _, raises = rest.partition("\nRaises:\n")
    found: dict[str, str] = {}
    for line in arguments.splitlines():
        begins = re.match(r"    (\w+): (.*)", line)
        if begins:
            found[last := begins[1]] = begins[2]
        elif line.strip():
            found[last] += f" {line.strip()}"
    return head, found, raises


def signature(item: ast.FunctionDef, left_out: list[str]) -> str:
    """Names and defaults; types are in the table."""
    a = item.args
    words = [x.arg for x in [*a.posonlyargs, *a.args] if x.arg not in ("self", "cls")]
    defaults = [ast.unparse(d) for d in a.defaults]
    for i, default in enumerate(reversed(defaults), 1):
        words[-i] += "=None" if default == "None" else f"={default}"
    if a.vararg:
        words.append(f"*{a.vararg.arg}")
    elif a.kwonlyargs:
        words.append("*")
    for x, default in zip(a.kwonlyargs, a.kw_defaults):
        if x.arg not in left_out:
            words.append(x.arg if default is None else f"{x.arg}={ast.unparse(default)}")
    if a.kwarg:
        words.append(f"**{a.kwarg.arg}")
    words += ["**common"] if left_out and any(x.arg in left_out for x in a.kwonlyargs) else []
    return ", ".join(words)


def shown_type(node: ast.expr | None) -> str:
    text = "" if node is None else ast.unparse(node).strip("'").replace("'", '"')
    text = text.replace("npt.NDArray[np.floating[Any]]", "array").replace("_Path", "PathLike")
    text = text.replace(" | None", "").replace("_Scalar", "bool | int | float | str | Sequence[float] | array")
    text = re.sub(r"_(Floats|Integers|Matrices)\b|npt\.NDArray\[[^]]*\]+|npt\.ArrayLike", "array", text)
    return text.replace("|", "\\|")


def table(item: ast.FunctionDef, docs: dict[str, str], left_out: list[str]) -> list[str]:
    a = item.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *([a.vararg] if a.vararg else []), *([a.kwarg] if a.kwarg else [])]
    rows = []
    for x in every:
        if x.arg in docs and x.arg not in left_out:
            kind = shown_type(x.annotation)
            kind = kind if len(kind) <= LONGEST_CELL else "text"
            rows.append(f"| `{x.arg}` | `{kind}` | {cell(docs[x.arg])} |")
    return ["| argument | type | meaning |", "|---|---|---|", *rows, ""] if rows else []


def function(item: ast.FunctionDef, level: int, left_out: list[str] | None = None, owner: str = "") -> str:
    head, arguments, raises = split_docs(item)
    result = shown_type(item.returns)
    result = "" if result in ("", "None") else f" -> {result}".replace("\\|", "|")
    call = f"{owner}{item.name}({signature(item, left_out or [])}){result}"
    out = [f"{'#' * level} {owner}{item.name}", "", "```text", lines(call, 120), "```", "", wrapped(head), ""]
    out += table(item, arguments, left_out or [])
    errors = [line.strip().partition(": ") for line in raises.splitlines() if line.strip()]
    if errors:
        out += [lines("Raises " + "; ".join(f"`{kind}`: {text.rstrip('.')}" for kind, _, text in errors) + "."), ""]
    return "\n".join(out)


def klass(item: ast.ClassDef) -> str:
    head, _, _ = split_docs(item)
    out = [f"### {item.name}", "", wrapped(head), ""]
    rows = attributes(item)
    if rows:
        out += ["| attribute | type | meaning |", "|---|---|---|", *rows, ""]
    for method in item.body:
        if not isinstance(method, ast.FunctionDef) or is_property(method) or is_setter(method):
            continue
        if method.name in ("__new__", "__getitem__") or not method.name.startswith("_"):
            out.append(a_method(item.name, method))
    return "\n".join(out)


def is_setter(method: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in method.decorator_list)


def is_property(method: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "property" for d in method.decorator_list)


def a_method(owner: str, method: ast.FunctionDef) -> str:
    head, arguments, raises = split_docs(method)
    words = signature(method, [])
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in method.decorator_list)
    before = f"{owner}." if static else f"{owner.lower()}."
    call = {"__new__": f"{owner}({words})", "__getitem__": f"{owner.lower()}[{words}]"}.get(method.name, f"{before}{method.name}({words})")
    result = shown_type(method.returns)
    if result not in ("", "None") and method.name != "__new__":
        call += f" -> {result}".replace("\\|", "|")
    out = ["```text", lines(call, 120), "```", "", wrapped(head), "", *table(method, arguments, [])]
    errors = [line.strip().partition(": ") for line in raises.splitlines() if line.strip()]
    if errors:
        out += [lines("Raises " + "; ".join(f"`{kind}`: {text.rstrip('.')}" for kind, _, text in errors) + "."), ""]
    return "\n".join(out)


def attributes(item: ast.ClassDef) -> list[str]:
    """Properties, and fields with a text after them."""
    rows = []
    for member, after in zip(item.body, [*item.body[1:], None]):
        if isinstance(member, ast.FunctionDef) and is_property(member):
            rows.append(f"| `{member.name}` | `{shown_type(member.returns)}` | {cell(ast.get_docstring(member) or '')} |")
        elif isinstance(member, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            kind = shown_type(member.annotation)
            kind = "array" if kind == "Any" and item.name != "Report" else re.sub(r"^InitVar\[Any\]$", "array", kind)
            rows.append(f"| `{ast.unparse(member.target)}` | `{kind}` | {cell(str(after.value.value))} |")
    return rows


def jobs(path: Path) -> list[ast.FunctionDef]:
    """The functions of a module; of overloads the last."""
    found = {item.name: item for item in ast.parse(path.read_text()).body if isinstance(item, ast.FunctionDef)}
    return list(found.values())


def common_arguments(package: Path) -> str:
    run = next(item for item in jobs(package / "jobs.py") if item.name == "run")
    _, arguments, _ = split_docs(run)
    out = ["## Arguments of all jobs", "", "`**common` in the signatures below stands for these.", ""]
    kept = {name: text for name, text in arguments.items() if name in COMMON}
    out += table(run, kept, [])
    out += [
        "`CharacterLike` is a file, a sample such as `\"sample:arm\"`, or a `Character`. `GraphLike` is a file, an example such as",
        "`\"example:bend\"`, or a `Graph`. `PathLike` is a text or a `pathlib.Path`. `Frames` is a number, a `range`, a list, or a text",
        "such as `\"0-120/2\"`. A `range` does not include its end.",
    ]
    return "\n".join(out) + "\n"


def nodes(package: Path) -> str:
    out = ["## Nodes", "", "Functions of `sinew_deform.nodes`. Each takes the keys of its page by name, and `name`, and returns a `Node`.", ""]
    out += ["| function | what the node does |", "|---|---|"]
    for item in jobs(package / "nodes.py"):
        if not item.name.startswith("_"):
            head, _, _ = split_docs(item)
            out.append(f"| [`{item.name}`](nodes/{item.name}.md) | {cell(head.partition(chr(10))[0])} |")
    return "\n".join(out) + "\n"
