"""The native module. Import its names from `sinew_deform`.

Arrays are float32 and C-contiguous, matrices float64 of shape (4, 4) with column vectors: `m[:3, 3]` is the translation.
Scene space is right-handed, Y up, in metres. Each array is a copy, unless you pass `out`.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt

from ._arrays import Clip, Joint, Mesh, Strands
from ._errors import Diagnostic
from ._support import Cancel, Event
from .graph import Input, Node

_Path = str | os.PathLike[str]
_CharacterLike = Character | str | os.PathLike[str]
_GraphLike = Graph | str | os.PathLike[str]
_Floats = npt.NDArray[np.float32]
_Integers = npt.NDArray[np.uint32]
_Matrices = npt.NDArray[np.float64]

version: str

@final
class Warning:
    """A repair that a reader made in a file."""

    @property
    def code(self) -> str:
        """Stable name of the warning."""
    @property
    def message(self) -> str:
        """What was found, and what was done."""

@final
class ClipView:
    """A clip of a character."""

    @property
    def name(self) -> str:
        """Name of the clip."""
    @property
    def start(self) -> float:
        """Time of the first key, seconds."""
    @property
    def end(self) -> float:
        """Time of the last key, seconds."""

@final
class JointView:
    """A joint of a character."""

    @property
    def name(self) -> str:
        """Name, as graphs call it."""
    @property
    def parent(self) -> int | None:
        """Index of the nearest joint above, in `Character.joints`."""
    @property
    def rest(self) -> _Matrices:
        """(4, 4) rest transform: joint space to scene space."""
    @property
    def local(self) -> _Matrices:
        """(4, 4) rest transform: joint space to the space of the parent in the file."""

@final
class MeshView:
    """A mesh or strands of a character, at rest."""

    @property
    def name(self) -> str:
        """Name of the mesh."""
    @property
    def vertex_count(self) -> int:
        """Number of vertices, n."""
    @property
    def positions(self) -> _Floats:
        """(n, 3) rest positions, metres, scene space."""
    @property
    def triangles(self) -> _Integers:
        """(m, 3) vertices of triangles, counter-clockwise."""
    @property
    def normals(self) -> _Floats | None:
        """(n, 3) unit normals."""
    @property
    def tangents(self) -> _Floats | None:
        """(n, 4) unit tangents and the sign of the bitangent."""
    @property
    def uvs(self) -> list[_Floats]:
        """(n, 2) texture coordinates of each set; v points down."""
    @property
    def colors(self) -> list[_Floats]:
        """(n, 4) colours of each set, linear RGBA."""
    @property
    def targets(self) -> list[str]:
        """Names of the morph targets."""
    @property
    def attributes(self) -> dict[str, _Floats]:
        """(n,) or (n, 2 to 4) attributes by name."""
    @property
    def influences(self) -> tuple[_Integers, _Integers, _Floats] | None:
        """Skin weights: offsets (n + 1,), joints, weights. Vertex v has the elements `offsets[v]` to `offsets[v + 1]`."""
    @property
    def strand_counts(self) -> _Integers | None:
        """(s,) vertices of each strand; `None` for a mesh."""
    @property
    def guides(self) -> _Integers | None:
        """(s,) guide of each strand: its own index, or the strand that it follows; `None` for a mesh."""
    @property
    def part_names(self) -> list[str]:
        """Names of the parts, one for each material."""

@final
class Character:
    """Meshes, strands, joints and clips. It never changes: players and threads share it."""

    @staticmethod
    def load(path: _Path) -> Character:
        """Reads a file.

        Args:
            path: A character file, such as GLB, glTF, VRM, FBX, OBJ or PLY; or numbered files, `sim_####.obj`, of which it reads the first.

        Raises:
            FileError: The file is missing or wrong; with its location.
        """
    @staticmethod
    def sample(name: Literal["arm", "creature", "ball", "head"]) -> Character:
        """A built-in character.

        Args:
            name: Name of the sample.
        """
    @staticmethod
    def from_arrays(
        name: str,
        meshes: Sequence[Mesh],
        joints: Sequence[Joint] = ...,
        strands: Sequence[Strands] = ...,
        clips: Sequence[Clip] = ...,
    ) -> Character:
        """A character from arrays.

        Args:
            name: Name of the character.
            meshes: Meshes at rest.
            joints: Joints, parents first. Meshes and clips count this list.
            strands: Hair at rest.
            clips: Animations.

        Raises:
            UsageError: An array is wrong; `location` names it.
        """
    @property
    def name(self) -> str:
        """Name of the character."""
    @property
    def path(self) -> os.PathLike[str]:
        """File; empty if there is none."""
    @property
    def meshes(self) -> list[MeshView]:
        """The meshes."""
    @property
    def strands(self) -> list[MeshView]:
        """The strands of hair."""
    @property
    def joints(self) -> list[JointView]:
        """Joints; a joint of several skins once."""
    @property
    def clips(self) -> list[ClipView]:
        """The clips, which are its animations."""
    @property
    def warnings(self) -> list[Warning]:
        """Repairs that the reader made. They are logged, too."""
    @property
    def graph(self) -> str | None:
        """Text of the embedded graph."""
    @property
    def expressions(self) -> list[str]:
        """Names of the expressions of a VRM file."""

@final
class Graph:
    """A graph document."""

    @staticmethod
    def load(path: _Path) -> Graph:
        """Reads a document.

        Args:
            path: JSON file. Comments and trailing commas are allowed.

        Raises:
            FileError: The file cannot be read.
        """
    @staticmethod
    def from_text(text: str, name: str = "graph", folder: _Path = ...) -> Graph:
        """A document from its text.

        Args:
            text: JSON text.
            name: Name of the document in messages.
            folder: Folder of the files that the document names.
        """
    @staticmethod
    def from_dict(document: Mapping[str, Any], name: str = "graph", folder: _Path = ...) -> Graph:
        """A document from a dictionary. Values can be arrays, NumPy numbers and paths.

        Args:
            document: Keys of the document.
            name: Name of the document in messages.
            folder: Folder of the files that the document names.
        """
    @staticmethod
    def from_nodes(
        *stack: str | Node | Mapping[str, Any],
        inputs: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Input] | None = None,
        **nodes: Node | Mapping[str, Any],
    ) -> Graph:
        """A document from nodes of `sinew_deform.nodes`.

        Args:
            stack: A chain: each node deforms the result of the one before. A text is a node with its defaults.
            inputs: Inputs by name: a type such as `"mesh"`, or the keys of the document. Default: `body` and `pose`.
            parameters: Further parameters by name: a value, or the keys of the document.
            outputs: Links by name of the output. Default: the end of the stack.
            nodes: Nodes by name.

        Raises:
            UsageError: Two nodes have one name, or a parameter has two declarations.
        """
    @staticmethod
    def default_for(character: Character) -> Graph:
        """The graph that commands use without one: morph targets and skinning, as far as the character has them.

        Args:
            character: Character that the graph is for.
        """
    @staticmethod
    def embedded(character: Character) -> Graph | None:
        """The graph in the file of a character.

        Args:
            character: Character that the graph is for.
        """
    @staticmethod
    def template(
        character: Character,
        name: Literal["body", "face", "cloth", "hair", "vat", "driver"] = "body",
        joint: str | None = None,
    ) -> Graph:
        """A starter graph, as `sinew init --template` writes it.

        Args:
            character: The character to fit it to.
            name: What the graph is for.
            joint: For `driver`: the joint whose poses drive.

        Raises:
            BindError: The character lacks what the template needs.
        """
    @property
    def text(self) -> str:
        """The document as JSON text."""
    @property
    def name(self) -> str:
        """Name of the document in messages."""
    @property
    def inputs(self) -> dict[str, dict[str, Any]]:
        """Inputs by name: `type` and more."""
    @property
    def parameters(self) -> dict[str, dict[str, Any]]:
        """Parameters by name: `type`, `default`, `min`, `max`, `doc`, `setup`."""
    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
    def check(self, character: Character | None = None) -> list[Diagnostic]:
        """All problems of the document.

        Args:
            character: Also check names of joints, indices and counts with this character.
        """
    def explain(self, character: Character | None = None) -> str:
        """The order of the nodes, their links, and which run in each frame.

        Args:
            character: Also say what this character adds: steps, buffers, memory.

        Raises:
            GraphError: The document is wrong.
        """

@final
class Output:
    """An output of a player, at its last frame. Take it from the player once; each call reads the frame at that time.

    An array for `out` has the shape of the result, is float32, C-contiguous and writeable. It is returned.
    """

    @property
    def name(self) -> str:
        """Name of the output."""
    @property
    def kind(self) -> Literal["mesh", "strands", "mask", "values", "lines", "field", "pose"]:
        """What kind of output it is."""
    @property
    def input(self) -> str | None:
        """Name of the mesh or strands input whose vertices the output has, in the same order; `None` for other outputs."""
    @property
    def vertex_count(self) -> int | Any:
        """Number of vertices, n; `None` if it is no mesh and no strands."""
    @property
    def triangles(self) -> _Integers | Any:
        """(m, 3) vertices of triangles; `None` if it is no mesh."""
    @property
    def strand_counts(self) -> _Integers | None:
        """(s,) vertices of each strand; `None` if it is no strands."""
    def positions(self, out: _Floats | None = None, transform: npt.NDArray[np.floating[Any]] | None = None) -> _Floats:
        """(n, 3) positions, metres, scene space.

        Args:
            out: Array for the result.
            transform: (4, 4) transform from scene space to a space of yours.

        Raises:
            UsageError: The output is no mesh, `out` does not fit, or there is no frame yet.
        """
    def normals(self, out: _Floats | None = None) -> _Floats | None:
        """(n, 3) unit normals; `None` if the mesh has none.

        Args:
            out: Array for the result.
        """
    def tangents(self, out: _Floats | None = None) -> _Floats | None:
        """(n, 4) unit tangents and the sign of the bitangent; `None` if the mesh has none.

        Args:
            out: Array for the result.
        """
    def colors(self, out: _Floats | None = None) -> _Floats | None:
        """(n, 4) colours, linear RGBA; `None` if the mesh has none.

        Args:
            out: Array for the result.
        """
    def previous_positions(self, out: _Floats | None = None) -> _Floats:
        """(n, 3) positions of the frame before, for motion vectors. In the first frame: the current ones. Only on the CPU.

        Args:
            out: Array for the result.
        """
    def previous_normals(self, out: _Floats | None = None) -> _Floats | None:
        """(n, 3) normals of the frame before. Only on the CPU.

        Args:
            out: Array for the result.
        """
    def previous_tangents(self, out: _Floats | None = None) -> _Floats | None:
        """(n, 4) tangents of the frame before. Only on the CPU.

        Args:
            out: Array for the result.
        """
    def floats(self, out: _Floats | None = None) -> _Floats:
        """(n,) numbers of a mask or of values.

        Args:
            out: Array for the result.
        """
    def lines(self) -> tuple[_Floats, _Floats]:
        """Lines: end points (n, 2, 3), metres, and colours (n, 4), linear RGBA."""
    def field(self) -> tuple[_Floats, _Matrices]:
        """A distance field: distances (x, y, z), metres, and the transform (4, 4) from node indices to scene space."""
    def pose(self) -> _Matrices:
        """(joints, 4, 4) joint space to scene space, in the order of `Character.joints`. Only on the CPU."""

@final
class Player:
    """A graph on a character, frame by frame. Several threads can use several players; one player works for one thread at a time."""

    def __new__(
        cls,
        character: _CharacterLike,
        graph: _GraphLike | None = None,
        *,
        clip: str | None = None,
        fps: float = 30.0,
        device: Literal["cpu", "gpu"] = "cpu",
        set: Mapping[str, Any] | None = None,
        values: Mapping[str, npt.ArrayLike] | None = None,
        inputs: Mapping[str, _Path] | None = None,
        point_caches: _Path | Mapping[str, _Path] | None = None,
        only: Sequence[str] | None = None,
        normals: bool = True,
        trust: bool = False,
        profile: bool = False,
    ) -> Player:
        """Runs setup: checks the graph, and computes weights, neighbours and so on. Ctrl-C stops it.

        Args:
            character: Character to deform, or its file.
            graph: Graph to evaluate, or its file. Default: the one in the file of the character, else morph targets and skinning.
            clip: Clip to play. Default: the first one.
            fps: Frames per second. Frame n is at n / fps seconds of the clip.
            device: `"cpu"`: the same bits in every run. `"gpu"`: the GPU that SINEW_ADAPTER names, else the fastest.
            set: Parameters of the graph by name. Those that setup reads can be set only here.
            values: Numbers of `values` inputs by name: one list, or one row per frame.
            inputs: Files of inputs by name, instead of those in the document.
            point_caches: Point cache that moves the mesh, or caches by input.
            only: Outputs to evaluate. Default: all.
            normals: Whether mesh outputs have normals and tangents. False saves their time.
            trust: Allow custom kernels of an embedded graph to run on a hardware GPU.
            profile: Time the nodes of each frame, see `node_times`.

        Raises:
            GraphError: The graph is wrong.
            BindError: The graph does not fit the character.
            DeviceError: There is no GPU, it cannot run the graph, or it has no clock for `profile`.
        """
    def advance(self, frame: int) -> None:
        """Evaluates a frame. Simulations take it as the frame that follows the last one.

        Args:
            frame: Number of the frame.
        """
    def advance_posed(
        self,
        frame: int,
        matrices: npt.NDArray[np.floating[Any]],
        joints: str | Sequence[str] | None = None,
        space: Literal["scene", "local", "skin"] = "scene",
    ) -> None:
        """Evaluates a frame with a pose of yours, instead of the clip.

        Args:
            frame: Number of the frame.
            matrices: (j, 4, 4) transforms of the joints.
            joints: Names of the j joints; all others move with their parents as in the clip. Default: all joints.
            space: `"scene"`: joint space to scene space. `"local"`: joint space to the space of the parent.
                `"skin"`: rest position to posed position, both in scene space.

        Raises:
            UsageError: A joint is unknown, or the array does not fit.
        """
    def seek(self, frame: int) -> None:
        """Evaluates a frame, and before it the frames that a simulation needs.

        Args:
            frame: Number of the frame.
        """
    def set(self, **values: Any) -> None:
        """Sets parameters of the graph from the next frame on.

        Args:
            values: Values by name.

        Raises:
            UsageError: A name is unknown, a value does not fit, or setup reads the parameter.
        """
    def set_clip(self, name: str | None = None) -> None:
        """Plays another clip from the next frame on.

        Args:
            name: Name of the clip; `None` for no clip, the rest pose.
        """
    def set_expression(self, name: str, weight: float) -> None:
        """Sets an expression of a VRM file.

        Args:
            name: Name of the expression.
            weight: 0 to 1.
        """
    def set_positions(self, input: str, positions: npt.ArrayLike | None) -> None:
        """Moves the mesh or strands of an input from the next frame on, in place of rest positions or a point cache, until the next call.

        Without a point cache, the first call runs setup again, and the next frame counts as a first frame. Later calls change no state of
        simulations.

        Args:
            input: Name of the input.
            positions: (n, 3) positions, metres, scene space, one for each vertex. If the input joins several meshes: all their vertices,
                one mesh after the other. `None` goes back to the rest positions or the point cache.

        Raises:
            UsageError: The input is unknown, or the array does not fit.
        """
    def set_values(self, input: str, values: Sequence[float] | _Floats) -> None:
        """Replaces the numbers of a `values` input, in all frames from the next one on.

        Args:
            input: Name of the input.
            values: As many numbers as the input has.

        Raises:
            UsageError: The input is unknown, or has another count.
        """
    def restart(self) -> None:
        """Forgets all frames: the next one is the first for simulations."""
    def save_state(self) -> bytes:
        """The state of simulations after the last frame."""
    def restore_state(self, state: bytes) -> int:
        """Goes back to a saved state, and returns its frame. Graph, device and fps must be those of `save_state`.

        Args:
            state: Result of `save_state`.
        """
    def node_times(self) -> list[tuple[str, float]]:
        """Name and seconds of each node of the last frame, in running order; empty before the first timed frame.

        The list has the nodes that Sinew added, for example for normals, and no nodes that run once, in setup. On the GPU, nodes that run
        in one launch have one time, and their names are joined by ` + `.

        Raises:
            UsageError: `profile` is off.
        """
    @property
    def profile(self) -> bool:
        """Whether frames are timed. Set it at any time. A timed frame on the GPU waits until it is done."""
    @profile.setter
    def profile(self, on: bool) -> None: ...
    @property
    def frame(self) -> int | None:
        """The last frame; `None` before the first."""
    @property
    def clip(self) -> str | None:
        """Name of the clip."""
    @property
    def fps(self) -> float:
        """Frames per second."""
    @property
    def device(self) -> str:
        """`"cpu"` or `"gpu"`."""
    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
    @property
    def character(self) -> Character:
        """The character that it plays."""
    @property
    def graph(self) -> Graph:
        """The graph that it plays."""
    def __getitem__(self, name: str, /) -> Output:
        """An output.

        Args:
            name: Name of the output.

        Raises:
            UsageError: There is no such output.
        """

@final
class Crowd:
    """Many instances of one graph on one character, evaluated together."""

    def __new__(
        cls,
        character: _CharacterLike,
        graph: _GraphLike | None = None,
        count: int = 1,
        *,
        clip: str | None = None,
        fps: float = 30.0,
        device: Literal["cpu", "gpu"] = "gpu",
        set: Mapping[str, Any] | None = None,
    ) -> Crowd:
        """Runs setup once for all instances.

        Args:
            character: Character to deform, or its file.
            graph: Graph to evaluate, or its file. Default: as for `Player`.
            count: Number of instances.
            clip: Clip to play. Default: the first one.
            fps: Frames per second.
            device: Where to evaluate.
            set: Parameters of the graph by name.
        """
    def advance(self, numbers: int | Sequence[int]) -> None:
        """Evaluates a frame of each instance.

        Args:
            numbers: One frame for all, or one for each instance.
        """
    def advance_posed(
        self,
        frame: int,
        matrices: npt.NDArray[np.floating[Any]],
        joints: str | Sequence[str] | None = None,
        space: Literal["scene", "local", "skin"] = "scene",
    ) -> None:
        """Evaluates a frame with a pose for each instance.

        Args:
            frame: Number of the frame.
            matrices: (count, j, 4, 4) transforms.
            joints: Names of the j joints. Default: all.
            space: As for `Player.advance_posed`.
        """
    def positions(self, output: str, out: _Floats | None = None) -> _Floats:
        """(count, n, 3) positions of a mesh output.

        Args:
            output: Name of the output.
            out: Array for the result.
        """
    @property
    def count(self) -> int:
        """Number of instances."""
    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
    @property
    def device(self) -> str:
        """`"cpu"` or `"gpu"`."""

def node_list() -> str:
    """All nodes with their ports, parameters, ranges, units and defaults, as JSON."""

def commands() -> str:
    """All commands with their arguments, as JSON."""

def run_job(
    arguments: Sequence[str],
    characters: Mapping[str, Character],
    graphs: Mapping[str, Graph],
    progress: Callable[[Event], object] | None = None,
    cancel: Cancel | None = None,
) -> str:
    """Runs a command in this process. The functions of `sinew_deform.jobs` call it.

    Args:
        arguments: Arguments of the command line, without the name of the program.
        characters: Characters by the name that an argument has.
        graphs: Graphs by the name that an argument has.
        progress: Gets each event.
        cancel: Stops the job.
    """

def cli(arguments: Sequence[str]) -> int:
    """Runs a command with its output on the terminal, and returns the exit code.

    Args:
        arguments: Arguments of the command line, without the name of the program.
    """

def read_picture(path: _Path) -> npt.NDArray[np.uint8]:
    """(h, w, 4) pixels of a picture, 8-bit RGBA.

    Args:
        path: A PNG file.
    """

def simd_level() -> str:
    """The instruction set that kernels use."""

def adapters() -> list[str]:
    """Names of the GPUs of this machine."""
