# SPDX-License-Identifier: GPL-3.0-or-later
"""The node tree (stand-in: a text)."""
import json
import bpy
from ..core import sd

class SinewNodeTree(bpy.types.NodeTree):
    """A deformer graph."""
    bl_idname = "SinewNodeTree"; bl_label = "Sinew Graph"; bl_icon = "NODETREE"
    text: bpy.props.StringProperty()

class LiveDocument:
    def __init__(self, tree):
        self.document = json.loads(tree.text); self.fingerprint = tree.text
    def values(self, tree): return {}
    def value_inputs(self, tree): return {}

TREE = "SinewNodeTree"
def live(tree): return LiveDocument(tree)
def from_document(document, name):
    tree = bpy.data.node_groups.new(name, TREE); tree.text = json.dumps(document); return tree
def replace(tree, document): tree.text = json.dumps(document)
def to_document(tree): return json.loads(tree.text)
def kinds_that_remember():
    return {n["name"] for n in json.loads(sd.node_list())["nodes"] if n["kind"] == "solver"}
def show_error(tree, error): pass
def check(tree, character=None): return []
def register(): bpy.utils.register_class(SinewNodeTree)
def unregister(): bpy.utils.unregister_class(SinewNodeTree)
