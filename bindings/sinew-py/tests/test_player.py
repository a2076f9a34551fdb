"""Players: frames, arrays of the caller, state, threads, memory, errors."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import skip

import sinew_deform as sd

MUSH = sd.Graph.from_nodes("skin", sd.nodes.delta_mush(iterations=4, weight=sd.param("mush", default=1.0)))
SPRING = sd.Graph.from_nodes("skin", bounce=sd.nodes.spring_joints(pose="pose"), outputs={"pose": "bounce"})


@pytest.mark.short
def test_out_is_filled_and_returned(arm: sd.Character) -> None:
    player = sd.Player(arm, MUSH)
    player.advance(20)
    body = player["body"]
    out = np.full((body.vertex_count, 3), np.nan, np.float32)
    assert body.positions(out=out) is out
    np.testing.assert_array_equal(out, body.positions())
    normals = body.normals()
    assert normals is not None
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-5)
    assert body.kind == "mesh" and body.triangles.max() < body.vertex_count


@pytest.mark.short
@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda n: np.zeros((n + 1, 3), np.float32), "shape"),
        (lambda n: np.zeros((n, 3), np.float64), "float64"),
        (lambda n: np.zeros((3, n), np.float32).T, "contiguous"),
        (lambda n: np.zeros((n, 6), np.float32)[:, ::2], "contiguous"),
        (lambda n: np.frombuffer(bytes(n * 12), np.float32).reshape(n, 3), "read-only"),
        (lambda n: [0.0] * n, "float32"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arm: sd.Character, make: object, word: str) -> None:
    player = sd.Player(arm, MUSH)
    player.advance(0)
    with pytest.raises(sd.UsageError, match=word):
        player["body"].positions(out=make(7681))  # type: ignore[operator]


@pytest.mark.short
def test_a_parameter_changes_the_next_frame(arm: sd.Character) -> None:
    """Weight 0 of delta mush is plain skinning."""
    plain, mush = sd.Player(arm, sd.Graph.from_nodes("skin")), sd.Player(arm, MUSH)
    plain.advance(25)
    mush.advance(25)
    assert np.abs(mush["body"].positions() - plain["body"].positions()).max() > 1e-3
    mush.set(mush=0.0)
    mush.advance(25)
    np.testing.assert_array_equal(mush["body"].positions(), plain["body"].positions())


def test_properties(arm: sd.Character) -> None:
    player = sd.Player(arm, MUSH, clip="bend", fps=24, set={"mush": np.float32(0.5)})
    assert (player.frame, player.clip, player.fps, player.device) == (None, "bend", 24, "cpu")
    assert player.outputs == ["body"] and player.character is arm and player.graph is MUSH
    player.advance(3)
    assert player.frame == 3
    player.set_clip(None)
    player.advance(4)
    np.testing.assert_allclose(player["body"].previous_positions().shape, (7681, 3))


def test_previous_positions_are_those_of_the_frame_before(arm: sd.Character) -> None:
    player = sd.Player(arm, MUSH)
    player.advance(10)
    first = player["body"].positions()
    np.testing.assert_array_equal(player["body"].previous_positions(), first)
    player.advance(11)
    np.testing.assert_array_equal(player["body"].previous_positions(), first)


def test_values_masks_and_poses(arm: sd.Character) -> None:
    elbow = sd.nodes.joint_transform(pose="pose", joint="forearm")
    mask = sd.nodes.mask(mesh="body", pose="pose", source="joint", joints=["forearm"])
    graph = sd.Graph.from_nodes("skin", outputs={"angle": elbow["angle"], "mask": mask, "pose": "pose"})
    player = sd.Player(arm, graph)
    player.advance(25)
    assert {name: player[name].kind for name in player.outputs} == {"angle": "values", "mask": "mask", "pose": "pose"}
    floats = player["mask"].floats()
    assert floats.shape == (7681,) and floats.min() >= 0 and floats.max() <= 1
    assert player["angle"].floats().shape == (1,)
    pose = player["pose"].pose()
    assert pose.shape == (len(arm.joints), 4, 4)
    np.testing.assert_allclose(pose[:, 3], [[0, 0, 0, 1]] * len(pose))
    with pytest.raises(sd.UsageError):
        player["mask"].positions()


def test_a_state_continues_a_simulation(arm: sd.Character) -> None:
    whole, second = sd.Player(arm, SPRING), sd.Player(arm, SPRING)
    for frame in range(20):
        whole.advance(frame)
        if frame == 9:
            state = whole.save_state()
    assert second.restore_state(state) == 9
    for frame in range(10, 20):
        second.advance(frame)
    np.testing.assert_array_equal(second["pose"].pose(), whole["pose"].pose())
    with pytest.raises(sd.SinewError):
        second.restore_state(b"nothing")


def test_seek_computes_the_frames_before(arm: sd.Character) -> None:
    stepped, sought = sd.Player(arm, SPRING), sd.Player(arm, SPRING)
    for frame in range(16):
        stepped.advance(frame)
    sought.seek(15)
    np.testing.assert_array_equal(sought["pose"].pose(), stepped["pose"].pose())


def test_two_threads_at_once(arm: sd.Character) -> None:
    def frames(result: list[np.ndarray]) -> None:
        player = sd.Player(arm, MUSH)
        for frame in range(30):
            player.advance(frame)
            result.append(player["body"].positions())

    alone: list[np.ndarray] = []
    frames(alone)
    results: list[list[np.ndarray]] = [[], []]
    threads = [threading.Thread(target=frames, args=[result]) for result in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, alone)


def test_one_player_in_two_threads(arm: sd.Character) -> None:
    player = sd.Player(arm, MUSH)
    failures: list[Exception] = []

    def work() -> None:
        try:
            for frame in range(50):
                player.advance(frame)
                player["body"].positions()
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_times_of_nodes(arm: sd.Character) -> None:
    player = sd.Player(arm, MUSH, profile=True)
    assert player.profile and player.node_times() == []
    player.advance(0)
    start = time.perf_counter()
    player.advance(1)
    whole = time.perf_counter() - start
    times = player.node_times()
    assert [name for name, _ in times if name in {"skin", "delta_mush"}] == ["skin", "delta_mush"]
    assert all(seconds > 0 for _, seconds in times)
    # Parts of the frame, and most of it: what else it does is small beside 7681 vertices smoothed.
    assert whole / 4 < sum(seconds for _, seconds in times) <= whole
    player.profile = False
    player.advance(2)
    with pytest.raises(sd.UsageError, match="profile"):
        player.node_times()


@pytest.mark.short
def test_outputs_name_the_input_of_their_vertices() -> None:
    head = sd.Character.sample("head")
    graph = sd.Graph.from_nodes(
        skin=sd.nodes.skin(mesh="body", pose="pose"),
        sim=sd.nodes.hair_sim(strands="hair", pose="pose"),
        mask=sd.nodes.mask(mesh="body", pose="pose", source="joint", joints=[head.joints[0].name]),
        inputs={"hair": "strands", "pose": "pose", "body": "mesh"},
        outputs={"a": "sim", "b": "skin", "c": "mask", "d": "body", "e": "pose"},
    )
    player = sd.Player(head, graph)
    assert {name: player[name].input for name in player.outputs} == {"a": "hair", "b": "body", "c": None, "d": "body", "e": None}
    counts = {strands.name: len(strands.positions) for strands in head.strands}
    assert player["a"].vertex_count == sum(counts.values())


SMOOTH = sd.Graph.from_nodes(sd.nodes.smooth(mesh="body", iterations=4))


@pytest.mark.short
def test_positions_of_a_caller_move_the_mesh(arm: sd.Character) -> None:
    """Means of neighbours commute with a scale and a move."""
    still, own = sd.Player(arm, SMOOTH), sd.Player(arm, SMOOTH)
    still.advance(0)
    smooth = still["body"].positions()
    rest = np.concatenate([mesh.positions for mesh in arm.meshes])
    for frame, move in enumerate([(0, 0, 0), (1, 2, 3), (0, 0.5, 0)]):
        # float64, converted.
        own.set_positions("body", rest.astype(np.float64) * 2 + move)
        own.advance(frame)
        np.testing.assert_allclose(own["body"].positions(), smooth * 2 + move, atol=2e-6)
    own.set_positions("body", np.asfortranarray(rest))
    own.advance(3)
    np.testing.assert_array_equal(own["body"].positions(), smooth)
    own.set_positions("body", None)
    own.advance(4)
    np.testing.assert_array_equal(own["body"].positions(), smooth)
    np.testing.assert_array_equal(own["body"].normals(), still["body"].normals())


def test_positions_of_a_caller_keep_simulations_going() -> None:
    """The same positions in each frame are those that stay."""
    head = sd.Character.sample("head")
    rest = np.concatenate([strands.positions for strands in head.strands])
    sim = sd.nodes.hair_sim(strands="hair", pose="pose")
    graph = sd.Graph.from_nodes(sim=sim, inputs={"hair": "strands", "pose": "pose"}, outputs={"hair": "sim"})
    once, always = sd.Player(head, graph), sd.Player(head, graph)
    once.set_positions("hair", rest)
    results = []
    for frame in range(8):
        always.set_positions("hair", rest)
        for player in (once, always):
            player.advance(frame)
        results.append(always["hair"].positions())
        np.testing.assert_array_equal(results[-1], once["hair"].positions())
    assert np.abs(results[-1] - results[0]).max() > 1e-3


@pytest.mark.short
@pytest.mark.parametrize(
    ("name", "change", "word"),
    [
        ("bodi", lambda rest: rest, "known: body"),
        ("body", lambda rest: rest[1:], "expected 7681"),
        ("body", lambda rest: rest[:, :2], "shape"),
        ("body", lambda rest: rest.ravel(), "shape"),
        ("body", lambda rest: rest * np.where(np.arange(len(rest)) == 5, np.nan, 1)[:, None], "vertex 5"),
    ],
)
def test_positions_that_do_not_fit_are_refused(arm: sd.Character, name: str, change: object, word: str) -> None:
    player = sd.Player(arm, SMOOTH)
    rest = np.concatenate([mesh.positions for mesh in arm.meshes])
    with pytest.raises(sd.UsageError, match=word):
        player.set_positions(name, change(rest))  # type: ignore[operator]


def resident() -> int:
    """Bytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_does_not_grow(small: sd.Character) -> None:
    if not Path("/proc/self/statm").exists():
        skip("memory of a process is read from /proc")
    graph = sd.Graph.from_nodes("skin")

    def cycles(count: int) -> None:
        for frame in range(count):
            player = sd.Player(small, graph)
            player.advance(frame)
            player["body"].positions()

    cycles(1000)
    before = resident()
    cycles(10_000)
    assert resident() - before < 4 << 20


@pytest.mark.short
def test_errors_have_what_programs_need(tmp_path: Path, arm: sd.Character) -> None:
    with pytest.raises(sd.FileError) as no_file:
        sd.load(tmp_path / "none.glb")
    assert no_file.value.file is not None and no_file.value.file.endswith("none.glb")
    broken = tmp_path / "broken.obj"
    broken.write_text("v 0 0 0\nv 1 0 zero\n")
    with pytest.raises(sd.FileError) as malformed:
        sd.load(broken)
    assert (malformed.value.line, malformed.value.found is None) == (2, False)
    with pytest.raises(sd.GraphError) as graph:
        sd.Player(arm, sd.Graph.from_text('{"sinew": "1.0", "stack": ["skim"]}'))
    assert (graph.value.line, graph.value.diagnostics[0].severity) == (1, "error")
    assert graph.value.help is not None and "skin" in graph.value.help
    with pytest.raises(sd.BindError):
        sd.Player(sd.Character.from_arrays("c", []), sd.Graph.from_nodes("skin"))
    with pytest.raises(ValueError, match="clip"):
        sd.Player(arm, MUSH, clip="none")
    with pytest.raises(sd.UsageError, match="mush"):
        sd.Player(arm, MUSH).set(mosh=1.0)
    with pytest.raises(sd.UsageError, match="body"):
        sd.Player(arm, MUSH)["bodi"]


@pytest.mark.short
def test_errors_survive_processes() -> None:
    problem = sd.Diagnostic("error", "code", "text", line=1)
    error = sd.GraphError("message", code="code", line=3, diagnostics=[problem])
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.code, copy.line, copy.diagnostics) == ("message", "code", 3, (problem,))
    assert str(sd.Diagnostic("error", "code", "text", file="a.json", line=1, column=2)) == "a.json:1:2: error: text"


def test_a_missing_gpu_is_a_device_error() -> None:
    code = "import sinew_deform as sd\ntry: sd.Player(sd.Character.sample('ball'), device='gpu')\nexcept sd.DeviceError: print('yes')"
    environment = {**os.environ, "SINEW_ADAPTER": "no such adapter"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "yes"


def test_the_gpu_agrees_with_the_cpu(arm: sd.Character) -> None:
    if not sd.adapters():
        assert "SINEW_REQUIRE_GPU" not in os.environ
        skip("no GPU adapter")
    on_cpu, on_gpu = sd.Player(arm, MUSH), sd.Player(arm, MUSH, device="gpu")
    for frame in (0, 12, 25):
        on_cpu.advance(frame)
        on_gpu.advance(frame)
        np.testing.assert_allclose(on_gpu["body"].positions(), on_cpu["body"].positions(), atol=1e-5)


def test_a_crowd_is_many_players(arm: sd.Character) -> None:
    crowd = sd.Crowd(arm, MUSH, 3, device="cpu")
    crowd.advance([0, 12, 25])
    together = crowd.positions("body")
    assert together.shape == (3, 7681, 3) and crowd.count == 3 and crowd.outputs == ["body"]
    player = sd.Player(arm, MUSH)
    for i, frame in enumerate([0, 12, 25]):
        player.advance(frame)
        np.testing.assert_array_equal(together[i], player["body"].positions())
    out = np.empty_like(together)
    assert crowd.positions("body", out=out) is out
    crowd.advance(12)
    np.testing.assert_array_equal(crowd.positions("body"), np.broadcast_to(together[1], together.shape))


def test_poses_of_a_crowd(small: sd.Character) -> None:
    crowd = sd.Crowd(small, sd.Graph.from_nodes("skin"), 2, device="cpu")
    matrices = np.tile(np.eye(4), (2, 1, 1, 1))
    matrices[1, 0, :3, 3] = [1, 0, 0]
    crowd.advance_posed(0, matrices, ["root"])
    first, second = crowd.positions("body")
    np.testing.assert_allclose(second - first, [[1, 0, 0]] * 3, atol=1e-6)


def test_numbers_of_a_values_input_can_change() -> None:
    """A ball that is stretched by a values input has that height."""
    ball = sd.Character.sample("ball")
    document = {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "lift": {"type": "values", "count": 1}},
        "nodes": {
            "high": {"node": "squash_stretch", "mesh": "body", "fit": "mesh", "axis": "y", "stretch": {"link": "lift"}},
        },
        "outputs": {"body": "high", "lift": "lift"},
    }
    player = sd.Player(ball, sd.Graph.from_dict(document), values={"lift": [1.0]})
    player.advance(0)
    rest = player["body"].positions()
    player.set_values("lift", [1.5])
    player.advance(1)
    assert player["lift"].floats() == [1.5]
    height = np.ptp(player["body"].positions()[:, 1]) / np.ptp(rest[:, 1])
    assert height == pytest.approx(1.5, rel=1e-4)
    with pytest.raises(sd.UsageError, match="expected 1"):
        player.set_values("lift", [1.0, 2.0])
    with pytest.raises(sd.UsageError, match="lift"):
        player.set_values("lit", [1.0])


def test_positions_in_another_space() -> None:
    ball = sd.Character.sample("ball")
    player = sd.Player(ball, sd.Graph.from_nodes(sd.nodes.smooth(iterations=2)))
    player.advance(0)
    plain = player["body"].positions().astype(np.float64)
    transform = np.array([[0, -2, 0, 1], [2, 0, 0, 2], [0, 0, 3, 3], [0, 0, 0, 1.0]])
    expected = plain @ transform[:3, :3].T + transform[:3, 3]
    out = np.empty(plain.shape, np.float32)
    assert player["body"].positions(out, transform=transform) is out
    assert np.abs(out - expected).max() < 1e-6
    assert np.abs(player["body"].positions(transform=transform.astype(np.float32)) - expected).max() < 1e-6
    assert np.array_equal(player["body"].positions(), plain.astype(np.float32))
    for wrong, found in ((transform.T, "last row"), (transform[:3], "shape"), (transform * np.nan, "not finite")):
        with pytest.raises(sd.UsageError, match=found):
            player["body"].positions(transform=wrong)


def test_a_player_without_normals_has_the_same_positions() -> None:
    arm = sd.Character.sample("arm")
    graph = sd.Graph.from_nodes("skin", sd.nodes.delta_mush(iterations=4))
    both = [sd.Player(arm, graph, normals=normals) for normals in (True, False)]
    for player in both:
        player.advance(10)
    assert np.array_equal(both[0]["body"].positions(), both[1]["body"].positions())
    assert both[0]["body"].normals() is not None
    assert both[1]["body"].normals() is None and both[1]["body"].tangents() is None
    # Also after the mesh of the input became one that moves.
    both[1].set_positions("body", arm.meshes[0].positions)
    both[1].advance(11)
    assert both[1]["body"].normals() is None
