"""Makes the pictures of the manual's page about Blender.

    sinew convert sample:arm -o arm.glb
    xvfb-run -s "-screen 0 1000x640x24" blender --factory-startup --window-geometry 0 0 1000 640 \\
        --addons bl_ext.user_default.sinew --python bindings/blender/pictures.py -- docs/pictures arm.glb

Needs the extension, installed, and `import`, `convert` and `montage` of ImageMagick and `xdotool`. The window may be a virtual one.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import bpy
from mathutils import Quaternion, Vector

OUT, CHARACTER = sys.argv[sys.argv.index("--") + 1 :][:2]
FOREARM = "forearm"
POSES = {"bent": ((0, 0, 1), 100), "up": ((1, 0, 0), 60), "down": ((1, 0, 0), -60)}
SHOWN = ((0.45, 0, 1), 75)
STYLES = {"armature modifier": None, "delta mush": "preset:delta_mush", "soft delta mush": "preset:delta_mush_soft"}
STEP = 0.7
"""Seconds between two steps: Blender draws, and panels slide to their places."""


def magick(*words: str) -> None:
    """Runs a command of ImageMagick."""
    subprocess.run([str(word) for word in words], check=True)


def finish(source: str, name: str) -> None:
    """Writes a picture with a palette, without dates."""
    magick("convert", source, "-strip", "+dither", "-colors", "200", "-define", "png:compression-level=9", f"png8:{OUT}/{name}")


def shot(name: str, crop: str = "") -> None:
    """Saves the window."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "window.png")
        magick("import", "-window", "root", path)
        if crop:
            magick("convert", path, "-crop", crop, "+repage", path)
        finish(path, name)


def character() -> bpy.types.Object:
    """A scene with the character only, its mesh active, in the pose that pictures show."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    for collection in (bpy.data.meshes, bpy.data.armatures, bpy.data.actions, bpy.data.node_groups):
        for block in list(collection):
            collection.remove(block)
    bpy.ops.import_scene.gltf(filepath=CHARACTER, disable_bone_shape=True)
    obj = next(o for o in bpy.data.objects if any(m.type == "ARMATURE" for m in o.modifiers))
    obj.name = "arm"
    armature = next(m.object for m in obj.modifiers if m.type == "ARMATURE")
    armature.animation_data_clear()
    for bone in armature.pose.bones:
        bone.rotation_mode, bone.rotation_quaternion, bone.location = "QUATERNION", (1, 0, 0, 0), (0, 0, 0)
    armature.hide_set(True)
    activate(obj)
    pose(armature, *SHOWN)
    return obj


def activate(obj: bpy.types.Object) -> None:
    """Selects one object."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj


def pose(armature: bpy.types.Object, axis: tuple[float, float, float], degrees: float) -> None:
    """Rotates the forearm."""
    armature.pose.bones[FOREARM].rotation_quaternion = Quaternion(Vector(axis).normalized(), math.radians(degrees))
    bpy.context.view_layer.update()


def area(kind: str) -> bpy.types.Area:
    """The largest area, as an editor of this kind."""
    found = max(bpy.context.screen.areas, key=lambda a: a.width * a.height)
    found.ui_type = kind
    return found


def region(found: bpy.types.Area, kind: str) -> bpy.types.Region:
    """A region of an area."""
    return next(r for r in found.regions if r.type == kind)


def click(found: bpy.types.Area, x: float, y: float, kind: str = "UI") -> None:
    """Clicks into a region; pixels from its left and upper edge. Scripts cannot choose a tab."""
    part = region(found, kind)
    x, y = part.x + (x % part.width), bpy.context.window.height - part.y - part.height + y
    subprocess.run(["xdotool", "mousemove", f"{x:.0f}", f"{y:.0f}", "click", "1"], check=True)


def leave(found: bpy.types.Area) -> None:
    """Moves the pointer where no tooltip is."""
    part = region(found, "WINDOW")
    subprocess.run(["xdotool", "mousemove", str(part.x + 20), str(bpy.context.window.height - part.y - 20)], check=True)


def look(found: bpy.types.Area, target: Vector, distance: float, direction: tuple[float, float, float]) -> None:
    """Points the view at a place."""
    view = found.spaces.active.region_3d
    view.view_perspective = "PERSP"
    view.view_location, view.view_distance = target, distance
    view.view_rotation = Vector(direction).to_track_quat("Z", "Y")


def plain(found: bpy.types.Area) -> None:
    """A view without what distracts from the mesh."""
    space = found.spaces.active
    space.show_region_ui, space.show_region_toolbar, space.show_gizmo = True, False, False
    space.overlay.show_cursor = space.overlay.show_object_origins = space.overlay.show_relationship_lines = False
    space.overlay.show_text = space.overlay.show_outline_selected = False


def elbow(obj: bpy.types.Object) -> Vector:
    """Where the forearm begins, in the world."""
    armature = next(m.object for m in obj.modifiers if m.type == "ARMATURE")
    return armature.matrix_world @ armature.pose.bones[FOREARM].head


def panel_pictures() -> Iterator[None]:
    """The sidebar with the mesh, and the poses of a driver."""
    obj = character()
    armature = next(m.object for m in obj.modifiers if m.type == "ARMATURE")
    bpy.ops.sinew.add(preset="preset:delta_mush")
    found = area("VIEW_3D")
    plain(found)
    look(found, elbow(obj) + Vector((0.1, 0, 0.1)), 1.0, (0.3, -1.0, 0.35))
    yield
    click(found, -10, 190)
    yield
    leave(found)
    yield
    shot("blender_panel.png", CROP)
    record_poses(obj, armature)
    bpy.context.window_manager.sinew_live_weights = True
    pose(armature, *SHOWN)
    bpy.ops.sinew.driver_sphere()
    yield
    click(found, 60, PANEL_Y)
    yield
    leave(found)
    look(found, elbow(obj) + Vector((0.13, 0, 0)), 1.25, (0.3, -1.0, 0.35))
    yield
    yield
    shot("blender_drivers.png", CROP)


PANEL_Y = 215
CROP = "1000x586+0+29"
"""The editor alone, without the bars of the window."""


def record_poses(obj: bpy.types.Object, armature: bpy.types.Object) -> None:
    """A driver with the poses of the forearm."""
    pose(armature, (1, 0, 0), 0)
    for bone in armature.data.bones:
        bone.select = bone.name == FOREARM
    bpy.ops.sinew.driver_add(metric="swing_chord")
    for name, (axis, degrees) in POSES.items():
        pose(armature, axis, degrees)
        bpy.ops.sinew.pose_record(pose=name)


def graph(driver: dict[str, Any]) -> dict[str, Any]:
    """Delta mush at the elbow only, stronger when the elbow bends."""
    return {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
        "nodes": {
            "skin": {"node": "skin", "mesh": "body", "pose": "pose"},
            "elbow": {"node": "mask", "mesh": "body", "pose": "pose", "source": "joint", "joints": [FOREARM]},
            "bend": driver,
            "delta_mush": {"node": "delta_mush", "mesh": "skin", "mask": "elbow", "weight": {"link": "bend.weights", "index": 1}},
        },
        "outputs": {"body": "delta_mush"},
    }


def node_picture() -> Iterator[None]:
    """A graph in the node editor."""
    obj = character()
    bpy.ops.sinew.add(preset="preset:delta_mush")
    record_poses(obj, obj.sinew.armature)
    from bl_ext.user_default.sinew import nodes  # type: ignore[import-not-found]
    from bl_ext.user_default.sinew.nodes import layout  # type: ignore[import-not-found]

    driver = nodes.to_document(obj.sinew.tree)["nodes"]["forearm_driver"]
    nodes.replace(obj.sinew.tree, graph({**driver, "poses": driver["poses"][:2]}))
    found = area("SinewNodeTree")
    found.spaces.active.node_tree = obj.sinew.tree
    found.spaces.active.show_region_ui = found.spaces.active.show_region_toolbar = False
    for node in obj.sinew.tree.nodes:
        node.select = False
    for socket in obj.sinew.tree.nodes["elbow"].inputs:
        socket.hide = not socket.is_linked
    layout.arrange(obj.sinew.tree)
    yield
    with bpy.context.temp_override(area=found, region=region(found, "WINDOW")):
        bpy.ops.node.view_all()
    yield
    leave(found)
    yield
    zoom(found)
    yield
    yield
    shot("blender_nodes.png", node_crop(found, obj.sinew.tree))


def corners(found: bpy.types.Area, tree: bpy.types.NodeTree) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the nodes: pixels from the left and lower edge of the editor."""
    view = region(found, "WINDOW").view2d
    scale = bpy.context.preferences.system.ui_scale
    left, top = min(n.location[0] for n in tree.nodes), max(n.location[1] for n in tree.nodes)
    right = max(n.location[0] * scale + n.dimensions[0] for n in tree.nodes)
    bottom = min(n.location[1] * scale - n.dimensions[1] for n in tree.nodes)
    return (*view.view_to_region(left * scale, top * scale, clip=False), *view.view_to_region(right, bottom, clip=False))


def zoom(found: bpy.types.Area) -> None:
    """Zooms in until the nodes fill the width."""
    part = region(found, "WINDOW")
    tree = found.spaces.active.node_tree
    for _ in range(20):
        left, _top, right, _bottom = corners(found, tree)
        if (right - left) * 1.2 > part.width * 0.96:
            return
        with bpy.context.temp_override(area=found, region=part):
            bpy.ops.view2d.zoom_in(zoomfacx=0.0833, zoomfacy=0.0833)


def node_crop(found: bpy.types.Area, tree: bpy.types.NodeTree) -> str:
    """The part of the window with the nodes."""
    part = region(found, "WINDOW")
    left, top, right, bottom = corners(found, tree)
    height = bpy.context.window.height
    upper, lower = min(top + 20, part.height - 30), max(bottom - 20, 14)
    return f"{right - left + 40:.0f}x{upper - lower:.0f}+{part.x + left - 20:.0f}+{height - part.y - upper:.0f}"


def live_picture() -> Iterator[None]:
    """The bent elbow with the armature modifier and with two graphs, rendered."""
    with tempfile.TemporaryDirectory() as folder:
        tiles: list[str] = []
        for name, preset in STYLES.items():
            obj = character()
            pose(next(m.object for m in obj.modifiers if m.type == "ARMATURE"), (0, 0, 1), 140)
            if preset:
                bpy.ops.sinew.add(preset=preset)
            path = os.path.join(folder, f"{len(tiles)}.png")
            render(obj, path)
            tiles += ["-label", name, path]
            yield
        path = os.path.join(folder, "all.png")
        font = os.path.join(bpy.utils.system_resource("DATAFILES"), "fonts", "Inter.woff2")
        magick("montage", "-font", font, "-background", "#fafafa", "-pointsize", "15", "-geometry", "300x300+4+4", "-tile", "3x1", *tiles, path)
        finish(path, "blender_live.png")


def render(obj: bpy.types.Object, path: str) -> None:
    """Renders the elbow."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.collection.objects.link(camera)
    direction = Vector((0.1, -1.0, 0.25)).normalized()
    camera.location = elbow(obj) + Vector((-0.055, 0.0, 0.035)) + direction * 0.8
    camera.rotation_euler = direction.to_track_quat("Z", "Y").to_euler()
    camera.data.lens = 90
    scene.camera, scene.render.engine, scene.render.film_transparent = camera, "BLENDER_WORKBENCH", False
    scene.render.resolution_x = scene.render.resolution_y = 600
    scene.view_settings.view_transform = "Standard"
    scene.world.color = (0.86, 0.88, 0.9)
    shading = scene.display.shading
    shading.light, shading.color_type, shading.single_color, shading.show_cavity = "STUDIO", "SINGLE", (0.95, 0.94, 0.92), True
    shading.show_shadows = False
    scene.render.filepath = path
    bpy.ops.render.render(write_still=True)


def pictures() -> Iterator[None]:
    """One step for each redraw of the window."""
    found = area("VIEW_3D")
    with bpy.context.temp_override(area=found, region=region(found, "WINDOW")):
        bpy.ops.screen.screen_full_area()
    yield
    yield from live_picture()
    yield from panel_pictures()
    yield from node_picture()


def main() -> None:
    """Runs the steps while the window redraws."""
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.view.show_tooltips = False
    bpy.context.preferences.view.smooth_view = 0
    steps = pictures()

    def tick() -> float | None:
        try:
            next(steps)
        except StopIteration:
            bpy.ops.wm.quit_blender()
            return None
        except Exception:
            import traceback

            traceback.print_exc()
            os._exit(1)
        return STEP

    bpy.app.timers.register(tick, first_interval=2.0)


main()
