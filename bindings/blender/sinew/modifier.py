# SPDX-License-Identifier: GPL-3.0-or-later
"""The geometry-nodes modifier that moves the vertices to the positions of a carrier.

A carrier is an object outside of every scene, with one vertex for each vertex (or hair point) of the object. Only its positions change:
the mesh of the character is never written, so that linked meshes and meshes with several users work. A file that is opened without the
extension shows the last positions; where the number of vertices differs, the modifier changes nothing.
"""

from __future__ import annotations

import bpy
import numpy as np

from .space import Points

GROUP = "Sinew Deform"
GROUP_VERSION = 1
CARRIER = "Carrier"
MIX = "Mix"
CAPTURE = "Capture Input"
INPUT_ATTRIBUTE = "sinew_input"
# Modifiers that add, remove or reorder vertices.
CHANGE_VERTICES = {
    "ARRAY", "BEVEL", "BOOLEAN", "BUILD", "DECIMATE", "EDGE_SPLIT", "EXPLODE", "MASK", "MIRROR", "MULTIRES", "REMESH", "SCREW", "SKIN",
    "SOLIDIFY", "SUBSURF", "WELD", "WIREFRAME",
}  # fmt: skip


def find(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    """The Sinew modifier of an object."""
    for modifier in obj.modifiers:
        if modifier.type == "NODES" and modifier.node_group is not None and "sinew_version" in modifier.node_group:
            return modifier
    return None


def identifier(modifier: bpy.types.Modifier, name: str) -> str:
    """Key of a socket of the modifier."""
    for item in modifier.node_group.interface.items_tree:
        if item.item_type == "SOCKET" and item.in_out == "INPUT" and item.name == name:
            return str(item.identifier)
    raise KeyError(name)


def add(obj: bpy.types.Object, index: int) -> bpy.types.Modifier:
    """Adds the modifier at a place in the stack."""
    modifier = obj.modifiers.new("Sinew", "NODES")
    modifier.node_group = _group()
    modifier.show_in_editmode = False
    obj.modifiers.move(len(obj.modifiers) - 1, index)
    return modifier


def carrier(modifier: bpy.types.Modifier) -> bpy.types.Object | None:
    """The carrier of a modifier."""
    return modifier.get(identifier(modifier, CARRIER))


def write(obj: bpy.types.Object, modifier: bpy.types.Modifier, points: Points) -> None:
    """Gives the modifier positions (n, 3) in the space of the object."""
    target = carrier(modifier)
    if target is None or target.library is not None or len(target.data.vertices) != len(points):
        target = _new_carrier(obj, modifier, len(points))
    target.data.attributes["position"].data.foreach_set("vector", points.ravel())
    target.data.update_tag()


def set_capture(modifier: bpy.types.Modifier, wanted: bool) -> None:
    """Whether the modifier keeps the positions that reach it, for the graph to read."""
    key = identifier(modifier, CAPTURE)
    if bool(modifier.get(key, False)) != wanted:
        modifier[key] = wanted
        modifier.id_data.update_tag()


def captured(evaluated: bpy.types.Object, count: int) -> Points | None:
    """Positions (count, 3) that reached the modifier. `None` if modifiers after it change the number of vertices, or it keeps none."""
    attribute = evaluated.data.attributes.get(INPUT_ATTRIBUTE)
    if attribute is None or len(attribute.data) < count:
        return None
    flat = np.empty(len(attribute.data) * 3, np.float32)
    attribute.data.foreach_get("vector", flat)
    # Modifiers such as Subdivision Surface keep the points of the mesh and add others behind them.
    return flat.reshape(-1, 3)[:count]


def release(modifier: bpy.types.Modifier) -> None:
    """Removes the carrier."""
    target = carrier(modifier)
    if target is not None and target.library is None:
        bpy.data.meshes.remove(target.data)


def own_carrier(obj: bpy.types.Object, modifier: bpy.types.Modifier) -> None:
    """Gives a copied object a carrier of its own."""
    shared = carrier(modifier)
    if shared is not None:
        _new_carrier(obj, modifier, len(shared.data.vertices))


def _new_carrier(obj: bpy.types.Object, modifier: bpy.types.Modifier, count: int) -> bpy.types.Object:
    # Names that start with a dot are hidden in lists.
    name = f".sinew {obj.name}"
    old = carrier(modifier)
    if old is not None and old.library is None and old.users <= 1:
        old.data.clear_geometry()
        old.data.vertices.add(count)
        old.data.update()
        return old
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(count)
    mesh.update()
    made = bpy.data.objects.new(name, mesh)
    modifier[identifier(modifier, CARRIER)] = made
    # Tells Blender that the modifier depends on another object now.
    modifier.node_group = modifier.node_group
    return made


def _group() -> bpy.types.NodeTree:
    for group in bpy.data.node_groups:
        if group.get("sinew_version") == GROUP_VERSION and group.library is None:
            return group
    group = bpy.data.node_groups.new(GROUP, "GeometryNodeTree")
    group["sinew_version"] = GROUP_VERSION
    group.is_modifier = True
    _interface(group)
    _nodes(group)
    return group


def _interface(group: bpy.types.NodeTree) -> None:
    new = group.interface.new_socket
    new("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    new("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    mix = new(MIX, in_out="INPUT", socket_type="NodeSocketFloat", description="0: the shape before Sinew. 1: the deformed shape")
    mix.default_value, mix.min_value, mix.max_value, mix.subtype = 1.0, 0.0, 1.0, "FACTOR"
    new(CARRIER, in_out="INPUT", socket_type="NodeSocketObject", description="Positions that the extension writes").hide_in_modifier = True
    capture = new(CAPTURE, in_out="INPUT", socket_type="NodeSocketBool", description="The graph reads the shape that arrives here")
    capture.hide_in_modifier = True


def _nodes(group: bpy.types.NodeTree) -> None:
    """Capture -> Set Position(mix of the position and the carrier's), where both have the same number of points."""

    def node(kind: str, column: int, row: int, **settings: object) -> bpy.types.Node:
        made = group.nodes.new(kind)
        made.location = (column * 200, row * -180)
        for key, value in settings.items():
            setattr(made, key, value)
        return made

    def link(source: bpy.types.NodeSocket, target: bpy.types.NodeSocket) -> None:
        group.links.new(source, target)

    given = node("NodeGroupInput", 0, 0)
    position = node("GeometryNodeInputPosition", 0, 2)
    index = node("GeometryNodeInputIndex", 0, 3)
    store = node("GeometryNodeStoreNamedAttribute", 1, 0, data_type="FLOAT_VECTOR", domain="POINT")
    store.inputs["Name"].default_value = INPUT_ATTRIBUTE
    link(given.outputs["Geometry"], store.inputs["Geometry"])
    link(given.outputs[CAPTURE], store.inputs["Selection"])
    link(position.outputs[0], _vector(store.inputs, "Value"))
    kept = node("GeometryNodeSwitch", 2, 0, input_type="GEOMETRY")
    link(given.outputs[CAPTURE], kept.inputs["Switch"])
    link(given.outputs["Geometry"], _enabled(kept.inputs, "False"))
    link(store.outputs["Geometry"], _enabled(kept.inputs, "True"))

    info = node("GeometryNodeObjectInfo", 1, 2, transform_space="ORIGINAL")
    link(given.outputs[CARRIER], info.inputs["Object"])
    sample = node("GeometryNodeSampleIndex", 2, 2, data_type="FLOAT_VECTOR", domain="POINT")
    link(info.outputs["Geometry"], sample.inputs["Geometry"])
    link(position.outputs[0], _vector(sample.inputs, "Value"))
    link(index.outputs[0], sample.inputs["Index"])
    mix = node("ShaderNodeMix", 3, 2, data_type="VECTOR")
    link(given.outputs[MIX], _enabled(mix.inputs, "Factor"))
    link(position.outputs[0], _enabled(mix.inputs, "A"))
    link(_enabled(sample.outputs, "Value"), _enabled(mix.inputs, "B"))

    equal = node("FunctionNodeCompare", 4, 3, data_type="INT", operation="EQUAL")
    for side, geometry in (("A", given.outputs["Geometry"]), ("B", info.outputs["Geometry"])):
        link(_point_count(group, node, geometry, side), _enabled(equal.inputs, side))

    place = node("GeometryNodeSetPosition", 4, 0)
    link(kept.outputs[0], place.inputs["Geometry"])
    link(equal.outputs[0], place.inputs["Selection"])
    link(_enabled(mix.outputs, "Result"), place.inputs["Position"])
    out = node("NodeGroupOutput", 5, 0)
    link(place.outputs[0], out.inputs[0])


def _point_count(group: bpy.types.NodeTree, node: object, geometry: bpy.types.NodeSocket, side: str) -> bpy.types.NodeSocket:
    """Points of a mesh, or of curves."""
    row = 4 if side == "A" else 6
    add_up = node("ShaderNodeMath", 3, row, operation="ADD")
    for place, component in enumerate(("MESH", "CURVE")):
        size = node("GeometryNodeAttributeDomainSize", 2, row + place, component=component)
        group.links.new(geometry, size.inputs[0])
        group.links.new(_enabled(size.outputs, "Point Count"), add_up.inputs[place])
    return add_up.outputs[0]


def _enabled(sockets: bpy.types.bpy_prop_collection, name: str) -> bpy.types.NodeSocket:
    """Nodes with a data type have several sockets of one name."""
    return next(s for s in sockets if s.name == name and s.enabled)


def _vector(sockets: bpy.types.bpy_prop_collection, name: str) -> bpy.types.NodeSocket:
    return next(s for s in sockets if s.name == name and s.type == "VECTOR")
