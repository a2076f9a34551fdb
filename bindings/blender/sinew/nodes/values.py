# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of documents in properties of Blender, and back. A value that stays the same keeps its digits."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

_VECTORS = {"vec3": 3, "vec4": 4, "int3": 3}
_IDENTITY = {"translation": (0.0, 0.0, 0.0), "rotation_degrees": (0.0, 0.0, 0.0), "scale": (1.0, 1.0, 1.0)}
_PARTS = {"translation": "t", "rotation_degrees": "r", "scale": "s"}
PLAIN = ("float", "int", "bool", "vec3", "vec4", "int3", "choice", "text", "transform")
"""Types with properties of their own; the others are JSON text."""


class _Missing:
    """Stands for a key that is not there."""


MISSING = _Missing()


def properties_of(kind: str, prop: str) -> list[str]:
    """Names of the properties that hold a value of that type."""
    if kind == "transform":
        return [f"{prop}_{part}" for part in _PARTS.values()]
    return [prop]


def zero(kind: str) -> Any:
    """The value of a parameter without a default."""
    if kind in _VECTORS:
        return [0] * _VECTORS[kind]
    return {"float": 0.0, "int": 0, "bool": False, "text": "", "transform": {}}.get(kind)


def shortest(value: float) -> float:
    """The shortest decimal number that is the same 32-bit float."""
    return float(str(np.float32(value)))


def shortest_degrees(radians: float) -> float:
    """The shortest decimal number of degrees whose radians are the same 32-bit float."""
    degrees = math.degrees(radians)
    for digits in range(10):
        rounded = round(degrees, digits)
        if np.float32(math.radians(rounded)) == np.float32(radians):
            return rounded
    return degrees


def rounded(value: Any) -> Any:
    """A value that was computed in 32 bits, without the digits that the computation got wrong."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return {key: rounded(item) for key, item in value.items()} if isinstance(value, dict) else value


def is_number(value: Any) -> bool:
    """True for a JSON number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _numbers(value: Any, count: int) -> tuple[float, ...] | None:
    if isinstance(value, list) and len(value) == count and all(is_number(v) for v in value):
        return tuple(value)
    return None


def _decode_transform(prop: str, raw: Any) -> dict[str, Any] | None:
    if not isinstance(raw, dict) or not set(raw) <= set(_IDENTITY):
        return None
    result: dict[str, Any] = {}
    for key, default in _IDENTITY.items():
        numbers = _numbers(raw.get(key, list(default)), 3)
        if numbers is None:
            return None
        if key == "rotation_degrees":
            numbers = tuple(math.radians(v) for v in numbers)
        result[f"{prop}_{_PARTS[key]}"] = numbers
    return result


def decode(kind: str, prop: str, raw: Any, degrees: bool = False) -> dict[str, Any] | None:
    """The properties for a value of a document, or None if properties cannot hold it.

    Args:
        kind: Type of the value.
        prop: Name of the property.
        raw: JSON value.
        degrees: The value is an angle in degrees.
    """
    if kind == "transform":
        return _decode_transform(prop, raw)
    value: Any = None
    if kind == "float" and is_number(raw):
        value = math.radians(raw) if degrees else raw
    elif kind == "int" and is_number(raw) and float(raw).is_integer():
        value = int(raw)
    elif kind == "bool" and isinstance(raw, bool):
        value = raw
    elif kind in ("text", "choice") and isinstance(raw, str):
        value = raw
    elif kind in _VECTORS:
        value = _numbers(raw, _VECTORS[kind])
        if value is not None and kind == "int3":
            value = tuple(int(v) for v in value) if all(float(v).is_integer() for v in value) else None
    elif kind not in PLAIN:
        value = json.dumps(raw, ensure_ascii=False)
    return None if value is None else {prop: value}


def _limited(owner: Any, prop: str, value: Any) -> Any:
    """What Blender makes of a value: inside the range, floats of 32 bits."""
    rna = owner.bl_rna.properties[prop]
    if isinstance(value, tuple):
        return tuple(_limited_number(rna, v) for v in value)
    return _limited_number(rna, value)


def _limited_number(rna: Any, value: Any) -> Any:
    if rna.type == "INT":
        return min(max(value, rna.hard_min), rna.hard_max)
    if rna.type == "FLOAT":
        with np.errstate(over="ignore"):
            return float(np.float32(min(max(float(value), rna.hard_min), rna.hard_max)))
    return value


def write(owner: Any, properties: dict[str, Any]) -> bool:
    """Sets properties. False if an enumeration lacks the word."""
    for prop, value in properties.items():
        rna = owner.bl_rna.properties[prop]
        if rna.type == "ENUM" and value not in rna.enum_items:
            return False
        limited = _limited(owner, prop, value)
        if getattr(owner, prop) != limited:
            setattr(owner, prop, limited)
    return True


def same(owner: Any, properties: dict[str, Any]) -> bool:
    """True if the properties have these values already."""
    for prop, value in properties.items():
        current = getattr(owner, prop)
        if isinstance(value, tuple):
            current = tuple(current)
        if current != _limited(owner, prop, value):
            return False
    return True


def parse(text: str) -> tuple[Any, str]:
    """A JSON value and an empty text, or MISSING and what is wrong."""
    try:
        return json.loads(text), ""
    except ValueError as error:
        return MISSING, f"not JSON: {error}"


def word(raw: Any) -> str:
    """A word or a list as people type it: words without quotes."""
    if isinstance(raw, str) and raw and parse(raw)[1]:
        return raw
    return json.dumps(raw, ensure_ascii=False)


def parse_as(kind: str, text: str) -> tuple[Any, str]:
    """The value of a text. Words need no quotes."""
    value, wrong = parse(text)
    if wrong and kind == "word" and text[0] not in "[{":
        return text, ""
    if wrong and kind == "texts" and text.lstrip()[:1] not in ("[", "{", '"'):
        return [item.strip() for item in text.split(",") if item.strip()], ""
    return value, wrong


def read(owner: Any, kind: str, prop: str, degrees: bool = False) -> Any:
    """The JSON value that properties hold; MISSING for empty or wrong JSON text."""
    if kind == "transform":
        return _read_transform(owner, prop)
    value = getattr(owner, prop)
    if kind == "float":
        return shortest_degrees(value) if degrees else shortest(value)
    if kind in ("vec3", "vec4"):
        return [shortest(v) for v in value]
    if kind == "int3":
        return [int(v) for v in value]
    if kind in PLAIN:
        return value
    return parse(value)[0]


def _read_transform(owner: Any, prop: str) -> dict[str, list[float]]:
    result = {}
    for key, default in _IDENTITY.items():
        value = getattr(owner, f"{prop}_{_PARTS[key]}")
        short = shortest_degrees if key == "rotation_degrees" else shortest
        numbers = [short(v) for v in value]
        if tuple(numbers) != default:
            result[key] = numbers
    return result
