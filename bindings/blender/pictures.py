"""Draws the pictures of the manual: `blender --factory-startup --python bindings/blender/pictures.py -- OUT CHARACTER.glb`.

Needs Blender with a window (a virtual one will do: `xvfb-run -s "-screen 0 1600x1000x24"`), the extension installed, and ImageMagick's
`import` for pictures of the window. `sinew convert sample:arm -o arm.glb` makes the character.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

import bpy

OUT, CHARACTER = sys.argv[sys.argv.index("--") + 1 :][:2]


def shot(name: str, crop: str = "") -> None:
    """Saves the window."""
    path = os.path.join(OUT, name)
    os.system(f"import -window root {path}")
    if crop:
        os.system(f"convert {path} -crop {crop} +repage {path}")
    os.system(f"convert {path} -strip -colors 128 -depth 8 png8:{path}")


def empty() -> bpy.types.Object:
    """A file with the character only, its mesh active."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    bpy.ops.import_scene.gltf(filepath=CHARACTER)
    meshes = [o for o in bpy.data.objects if o.type == "MESH" and any(m.type == "ARMATURE" for m in o.modifiers)]
    obj = max(meshes, key=lambda o: len(o.data.vertices))
    for other in bpy.context.view_layer.objects:
        other.select_set(False)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.context.scene.frame_set(30)
    return obj


def area(kind: str) -> bpy.types.Area:
    """The largest area, as an editor of this kind."""
    found = max(bpy.context.screen.areas, key=lambda a: a.width * a.height)
    found.ui_type = kind
    return found


def sidebar(found: bpy.types.Area) -> None:
    """Opens the sidebar, wide enough to read."""
    found.spaces.active.show_region_ui = True


def click_tab(found: bpy.types.Area, y: int) -> None:
    """Clicks on a tab of the sidebar: scripts cannot choose one. `y`: pixels from the top of the sidebar."""
    region = next(r for r in found.regions if r.type == "UI")
    height = bpy.context.window.height
    os.system(f"xdotool mousemove {region.x + region.width - 10} {height - region.y - region.height + y} click 1")


def view(found: bpy.types.Area) -> None:
    """Frames the selected object."""
    region = next(r for r in found.regions if r.type == "WINDOW")
    with bpy.context.temp_override(area=found, region=region):
        bpy.ops.view3d.view_selected()


def pictures() -> Iterator[None]:
    """One step for each redraw of the window."""
    obj = empty()
    bpy.ops.sinew.add(preset="preset:delta_mush")
    found = area("VIEW_3D")
    sidebar(found)
    view(found)
    yield
    yield
    shot("tabs.png")
    click_tab(found, 160)
    yield
    yield
    shot("blender_panel.png")
    editor = area("SinewNodeTree")
    editor.spaces.active.node_tree = obj.sinew.tree
    yield
    region = next(r for r in editor.regions if r.type == "WINDOW")
    with bpy.context.temp_override(area=editor, region=region):
        bpy.ops.node.view_all()
    yield
    yield
    shot("blender_nodes.png")


def main() -> None:
    """Runs the steps while the window redraws."""
    bpy.context.preferences.view.show_splash = False
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
        return 1.0

    run: Callable[[], float | None] = tick
    bpy.app.timers.register(run, first_interval=2.0)


main()
