# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes the deformation to shape keys: as few as a tolerance allows, with linear curves between them."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from .. import character, modifier
from ..jobs import Steps
from ..report import Problem
from ..space import Points
from . import bake, curves
from .words import length


class SINEW_OT_bake_shape_keys(bake.BakeOperator):
    """Bake the deformation to shape keys, as few as the tolerance allows. Sinew is switched off afterwards"""

    bl_idname = "sinew.bake_shape_keys"
    bl_label = "Bake to Shape Keys"

    tolerance: bpy.props.FloatProperty(
        name="Tolerance",
        description="Largest distance of a vertex from the live result",
        default=0.0001,
        min=0.0,
        unit="LENGTH",
        precision=6,
    )
    copy: bpy.props.BoolProperty(name="Copy", description="Bake a copy of the object, and leave the object as it is", default=False)

    def steps(self, context: bpy.types.Context) -> Steps:
        obj = bake.deformed(context)
        first, last = self.range(context)
        total = last - first + 1
        samples = np.empty((total, len(obj.data.vertices), 3), np.float32)
        for frame, points in bake.positions(context, obj, first, last):
            samples[frame - first] = points
            yield frame - first, total + 1
        chosen = key_frames(samples, self.tolerance)
        yield total, total + 1
        muted = _keys_in_bake(obj)
        target = bake.copy_without_sinew(obj, "baked") if self.copy else _own_mesh(obj)
        basis = character.rest_positions(obj).copy()
        had_basis = target.data.shape_keys is not None
        made = _add_keys(target, samples, chosen, first, basis)
        for name in muted:
            target.data.shape_keys.key_blocks[name].mute = True
        off = _switch_off_before(obj, target)
        if not self.copy:
            bake.mark(obj, bake.SHAPE_KEYS, render=modifier.find(obj).show_render, keys=made, muted=muted, off=off, basis=not had_basis)
            bake.switch_off(obj)
        error = largest_error(samples, chosen, basis)
        self.result = f"{len(made)} shape keys for {total} frames at '{target.name}', at most {length(error * 1000.0)} from the live result"
        if muted:
            self.result += f". The bake holds these shape keys, which are muted now: {', '.join(muted)}"
        if off:
            self.result += f". The bake holds these modifiers, which are off now: {', '.join(off)}"


def key_frames(samples: Points, tolerance: float) -> list[int]:
    """Indices of the samples to keep: linear interpolation between them stays within the tolerance."""
    kept, last = [0], len(samples) - 1
    while kept[-1] < last:
        start, reach = kept[-1], 1
        # Double the distance as long as it fits, then halve.
        while start + reach * 2 <= last and _error(samples, start, start + reach * 2) <= tolerance:
            reach *= 2
        low, high = start + reach, min(start + reach * 2, last)
        while low < high:
            middle = (low + high + 1) // 2
            if _error(samples, start, middle) <= tolerance:
                low = middle
            else:
                high = middle - 1
        kept.append(low)
    return kept


def _error(samples: Points, start: int, end: int) -> float:
    """Largest distance of the samples between two of them from the straight line."""
    worst = 0.0
    for i in range(start + 1, end):
        share = np.float32((i - start) / (end - start))
        off = samples[i] - (samples[start] * (1 - share) + samples[end] * share)
        worst = max(worst, float(np.einsum("ij,ij->i", off, off).max()))
    return worst**0.5


def largest_error(samples: Points, chosen: Sequence[int], basis: Points) -> float:
    """Largest distance of the baked frames from the samples, in metres, as Blender adds up shape keys."""
    worst = 0.0
    for start, end in zip(chosen, [*chosen[1:], chosen[-1] + 1]):
        for i in range(start, min(end, len(samples))):
            share = np.float32((i - start) / (end - start))
            baked = basis + (samples[start] - basis) * (1 - share)
            if share:
                baked += (samples[end] - basis) * share
            off = samples[i] - baked
            worst = max(worst, float(np.einsum("ij,ij->i", off, off).max()))
    return worst**0.5


def _keys_in_bake(obj: bpy.types.Object) -> list[str]:
    """Shape keys that act now or are animated: they would count twice."""
    keys = obj.data.shape_keys
    if keys is None:
        return []
    animated = set()
    if keys.animation_data is not None:
        if keys.animation_data.action is not None:
            animated |= {curve.data_path for curve in curves.of(keys, keys.name)}
        animated |= {driver.data_path for driver in keys.animation_data.drivers}
    out = []
    for block in keys.key_blocks:
        if block == keys.reference_key or block.mute:
            continue
        if block.value != 0.0 or block.path_from_id("value") in animated:
            out.append(block.name)
    return out


def _own_mesh(obj: bpy.types.Object) -> bpy.types.Object:
    """Other objects with the same mesh must not get the shape keys."""
    if obj.data.library is not None and obj.library is not None:
        raise Problem(f"'{obj.name}' is linked from another file. Make a library override first (Object > Library Override > Make)")
    if obj.data.users > 1 or obj.data.library is not None:
        obj.data = obj.data.copy()
    return obj


def _add_keys(obj: bpy.types.Object, samples: Points, chosen: Sequence[int], first: int, basis: Points) -> list[str]:
    """The shape keys with their curves."""
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    rounding = 4.0 * float(np.finfo(np.float32).eps) * float(np.abs(basis).max(initial=0.0))
    added = []
    for i, sample in enumerate(chosen):
        if float(np.abs(samples[sample] - basis).max()) <= rounding:
            continue  # The basis itself.
        block = obj.shape_key_add(name=f"frame_{first + sample}", from_mix=False)
        block.value = 0.0
        block.relative_key = obj.data.shape_keys.reference_key
        block.data.foreach_set("co", samples[sample].ravel())
        around = [(chosen[j] + first, float(j == i)) for j in (i - 1, i, i + 1) if 0 <= j < len(chosen)]
        added.append((block.name, block.path_from_id("value"), around))
    if added:
        own = curves.of(obj.data.shape_keys, f"{obj.name} bake")
        for _, path, around in added:
            curves.write(own, path, 0, [f for f, _ in around], [v for _, v in around])
    obj.data.update()
    return [name for name, _, _ in added]


def _switch_off_before(obj: bpy.types.Object, target: bpy.types.Object) -> dict[str, list[bool]]:
    """Switches off the modifiers before Sinew, which the shape keys hold. Their switches before: viewport, render."""
    index = list(obj.modifiers).index(modifier.find(obj))
    off = {}
    for other in list(obj.modifiers)[:index]:
        own = target.modifiers[other.name]
        if own.show_viewport or own.show_render:
            off[other.name] = [own.show_viewport, own.show_render]
            own.show_viewport = own.show_render = False
    return off


def register() -> None:
    """Registers the operator."""
    bpy.utils.register_class(SINEW_OT_bake_shape_keys)


def unregister() -> None:
    """Removes it."""
    bpy.utils.unregister_class(SINEW_OT_bake_shape_keys)
