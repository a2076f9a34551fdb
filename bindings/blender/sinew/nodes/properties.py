# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of Blender for the parameters of a node kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from . import joints
from .registry import Kind, Param

_INT_MAX = 2147483647
_FLOAT_MAX = 3.0e38
_SUBTYPES = {"rad": "ANGLE", "m": "DISTANCE", "s": "TIME_ABSOLUTE"}
_UNITS = {"m/s": "VELOCITY", "m/s²": "ACCELERATION"}
Update = Callable[[Any, Any], None]


def title(name: str) -> str:
    """`global_stiffness` as people write it."""
    return name.upper() if sorted(name) == ["x", "y", "z"] else name.replace("_", " ").capitalize()


def prop_name(param: Param) -> str:
    """Name of the property that holds a parameter."""
    return f"p_{param.name}"


def text_name(param: Param) -> str:
    """Name of the property with the JSON text of a value that sliders cannot hold."""
    return f"j_{param.name}"


def _float(param: Param, common: dict[str, Any]) -> Any:
    low = -_FLOAT_MAX if param.min is None else param.min
    high = _FLOAT_MAX if param.max is None else param.max
    subtype = _SUBTYPES.get(param.unit, "FACTOR" if (low, high) == (0.0, 1.0) else "NONE")
    unit = {"unit": _UNITS[param.unit]} if param.unit in _UNITS else {}
    precision = 2 if subtype == "ANGLE" else 3
    return bpy.props.FloatProperty(default=param.default or 0.0, min=low, max=high, subtype=subtype, precision=precision, **unit, **common)


def _int(param: Param, common: dict[str, Any]) -> Any:
    low = -_INT_MAX if param.min is None else max(int(param.min), -_INT_MAX)
    high = _INT_MAX if param.max is None else min(int(param.max), _INT_MAX)
    return bpy.props.IntProperty(default=int(param.default or 0), min=low, max=high, **common)


def _vector(param: Param, common: dict[str, Any]) -> Any:
    size = 4 if param.type == "vec4" else 3
    default = tuple(param.default or (0,) * size)
    limits = {key: value for key, value in (("min", param.min), ("max", param.max)) if value is not None}
    if param.type == "int3":
        limits = {key: int(value) for key, value in limits.items()}
        return bpy.props.IntVectorProperty(size=3, default=tuple(int(v) for v in default), **limits, **common)
    if param.name == "color":
        return bpy.props.FloatVectorProperty(size=size, default=default, subtype="COLOR", soft_min=0.0, soft_max=1.0, **common)
    subtype = {"m": "TRANSLATION", "m/s": "VELOCITY", "m/s²": "ACCELERATION"}.get(param.unit, "XYZ")
    return bpy.props.FloatVectorProperty(size=size, default=default, subtype=subtype, **limits, **common)


def _choice(param: Param, common: dict[str, Any]) -> Any:
    items = [(name, title(name), doc, number) for number, (name, doc) in enumerate(param.choices)]
    return bpy.props.EnumProperty(items=items, default=param.default or param.choices[0][0], **common)


def _text(param: Param, common: dict[str, Any]) -> Any:
    if param.names_joints:
        return bpy.props.StringProperty(default=param.default or "", search=joints.search, search_options={"SUGGESTION"}, **common)
    subtype = "FILE_PATH" if param.name in ("file", "point_cache") else "NONE"
    return bpy.props.StringProperty(default=param.default or "", subtype=subtype, **common)


def transform(prop: str, label: str, update: Update | None = None) -> dict[str, Any]:
    """Translation, rotation and scale."""
    made = {}
    for part, name, subtype, default in (("t", "translation", "TRANSLATION", 0.0), ("r", "rotation", "EULER", 0.0), ("s", "scale", "XYZ", 1.0)):
        made[f"{prop}_{part}"] = bpy.props.FloatVectorProperty(
            name=f"{label} {name}", description=f"{name.capitalize()} of the transform", size=3, default=(default,) * 3, subtype=subtype, update=update
        )
    return made


_MAKERS = {"float": _float, "int": _int, "vec3": _vector, "vec4": _vector, "int3": _vector, "choice": _choice, "text": _text}


def of_param(param: Param, touched: Callable[[Param], Update], moved: Callable[[Param], Update] | None = None) -> dict[str, Any]:
    """Annotations for a parameter: its value, and a text for what sliders cannot hold. `moved` makes the callback of sliders."""
    text_update = touched(param)
    update = moved(param) if moved is not None else text_update
    label, prop = title(param.name), prop_name(param)
    common = {"name": label, "description": tooltip(param), "update": update}
    text = bpy.props.StringProperty(name=f"{label} (JSON)", description=f"{param.name} as in documents: keys, a joint, a matrix", update=text_update)
    if param.type == "transform":
        return {**transform(prop, label, update), text_name(param): text}
    if param.type == "bool":
        return {prop: bpy.props.BoolProperty(default=bool(param.default), **common), text_name(param): text}
    if param.type in _MAKERS:
        return {prop: _MAKERS[param.type](param, common), text_name(param): text}
    return {prop: bpy.props.StringProperty(**common)}


def tooltip(param: Param) -> str:
    """What a parameter does, its unit, and when it is read."""
    parts = [param.doc.rstrip(".")]
    if param.unit and param.unit not in _SUBTYPES:
        parts.append(f"Unit: {param.unit}")
    if param.setup:
        parts.append("Read in setup")
    return ". ".join(p for p in parts if p)


def of_kind(kind: Kind, touched: Callable[[Param], Update], preset_changed: Update, moved: Callable[[Param], Update] | None = None) -> dict[str, Any]:
    """Annotations for all parameters of a kind, and its presets."""
    made: dict[str, Any] = {}
    for param in kind.parameters:
        made.update(of_param(param, touched, moved))
    if kind.presets:
        items = [("NONE", "No preset", "The defaults of the node", 0)]
        items += [(name, title(name), kind.preset_docs[name], number + 1) for number, name in enumerate(kind.presets)]
        made["preset"] = bpy.props.EnumProperty(name="Preset", description="Values for parameters that are not set", items=items, update=preset_changed)
    return made
