# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents for the tests of nodes: all of the repository, those of the manual, the templates."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import sinew_deform as sd

REPOSITORY = Path(__file__).resolve().parents[3]
SAMPLES = ("arm", "head", "creature", "ball")
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|,(?=\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*[\]}])', re.DOTALL)
_SKIPPED = {"target", "node_modules", ".git", ".github"}


def parse(text: str) -> Any:
    """JSON with comments and trailing commas."""
    return json.loads(_TOKEN.sub(lambda found: found.group() if found.group().startswith('"') else "", text))


def files() -> dict[str, Path]:
    """All files of the repository that are graph documents."""
    found = {}
    for folder in ("examples", "crates", "docs", "tools", "bindings", "apps"):
        for path in sorted((REPOSITORY / folder).rglob("*.json")):
            if _SKIPPED.isdisjoint(path.parts) and '"sinew": "1.0"' in path.read_text(encoding="utf-8"):
                found[str(path.relative_to(REPOSITORY))] = path
    return found


def manual() -> dict[str, dict[str, Any]]:
    """Complete documents in the pages of the manual."""
    found = {}
    for page in sorted((REPOSITORY / "docs").rglob("*.md")):
        for number, block in enumerate(re.findall(r"```json\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)):
            if '"sinew": "1.0"' in block:
                try:
                    found[f"{page.relative_to(REPOSITORY)}#{number}"] = parse(block)
                except ValueError:
                    continue
    return found


def templates() -> dict[str, dict[str, Any]]:
    """All templates for all samples that they fit."""
    found = {}
    for sample in SAMPLES:
        character = sd.Character.sample(sample)
        for template in ("body", "face", "cloth", "hair", "vat", "driver"):
            try:
                found[f"{sample}:{template}"] = parse(sd.Graph.template(character, template).text)
            except sd.BindError:
                continue
    return found


def everything() -> dict[str, tuple[dict[str, Any], str | None]]:
    """All documents, with the folder of their files."""
    found: dict[str, tuple[dict[str, Any], str | None]] = {}
    for name, path in files().items():
        found[name] = (parse(path.read_text(encoding="utf-8")), str(path.parent))
    for name, document in {**manual(), **templates()}.items():
        found[name] = (document, None)
    return {name: entry for name, entry in found.items() if isinstance(entry[0], dict)}
