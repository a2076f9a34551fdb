"""Commands as functions."""

from __future__ import annotations

import inspect
import json
import logging
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew_deform as sd
from sinew_deform import _native
from sinew_deform._support import Arguments, _parsed, to_json

MUSH = sd.Graph.from_nodes("skin", sd.nodes.delta_mush(iterations=4))


@pytest.mark.short
def test_run_takes_objects(tmp_path: Path, arm: sd.Character) -> None:
    out = tmp_path / "arm.npz"
    report = sd.run(arm, MUSH, output=out, frames=range(0, 11, 5))
    assert report.data is None and [e["event"] for e in report.events][-1] == "summary"
    written = np.load(out)["positions"]
    player = sd.Player(arm, MUSH)
    for row, frame in zip(written, (0, 5, 10)):
        player.advance(frame)
        np.testing.assert_array_equal(row, player["body"].positions())


def test_several_outputs_and_settings(tmp_path: Path, arm: sd.Character) -> None:
    graph = sd.Graph.from_nodes("skin", sd.nodes.delta_mush(weight=sd.param("mush", default=1.0)))
    files = [tmp_path / "a.npz", tmp_path / "a.pc2"]
    sd.run(arm, graph, output=files, frames=3, set={"mush": 0.0})
    player = sd.Player(arm, sd.Graph.from_nodes("skin"))
    player.advance(3)
    np.testing.assert_array_equal(np.load(files[0])["positions"][0], player["body"].positions())
    assert files[1].stat().st_size > 7681 * 12


@pytest.mark.short
def test_inspect_gives_a_dictionary(arm: sd.Character) -> None:
    assert sd.inspect("sample:arm")["meshes"][0]["vertices"] == 7681
    assert sd.inspect(arm)["meshes"][0]["vertices"] == 7681
    assert sd.inspect(arm, joint="forearm")["name"] == "forearm"


def test_reports_are_data(arm: sd.Character) -> None:
    report = sd.doctor()
    assert isinstance(report.data, (dict, list))
    checked = sd.check(sd.Graph.from_nodes("morph", "skin"), character=arm)
    assert checked.warnings == []


def test_embed_and_the_embedded_graph(tmp_path: Path, arm: sd.Character) -> None:
    file = tmp_path / "arm.glb"
    sd.embed(arm, MUSH, output=file)
    embedded = sd.Graph.embedded(sd.load(file))
    assert embedded is not None and json.loads(embedded.text)["stack"][1]["node"] == "delta_mush"


def test_a_bake_writes_a_folder(tmp_path: Path, ball: sd.Character) -> None:
    sd.bake_vat(ball, output=tmp_path / "bake", frames=range(5), mode="soft")
    listed = sd.vat.inspect(tmp_path / "bake")
    assert listed.data is not None
    assert list((tmp_path / "bake").glob("*.vat.json"))


@pytest.mark.short
def test_errors_of_jobs_have_a_kind(tmp_path: Path, arm: sd.Character) -> None:
    with pytest.raises(sd.FileError, match=r"none\.glb"):
        sd.run(tmp_path / "none.glb", output=tmp_path / "x.npz")
    with pytest.raises(sd.GraphError):
        sd.run(arm, sd.Graph.from_text('{"sinew": "1.0", "stack": ["skim"]}'), output=tmp_path / "x.npz")
    with pytest.raises(sd.UsageError):
        sd.run(arm, clip="bend", frames="a-b", output=tmp_path / "x.npz")
    with pytest.raises(ValueError, match="format|extension|ending|\\.xyz"):
        sd.run(arm, output=tmp_path / "x.xyz")
    assert list(tmp_path.iterdir()) == []


def test_jobs_run_on_several_threads(tmp_path: Path, arm: sd.Character) -> None:
    files = [tmp_path / f"{i}.npz" for i in range(3)]
    threads = [threading.Thread(target=sd.run, args=[arm, MUSH], kwargs={"output": f, "frames": range(5)}) for f in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, *others = [np.load(f)["positions"] for f in files]
    assert first.shape == (5, 7681, 3)
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_progress_counts_up(tmp_path: Path, arm: sd.Character) -> None:
    seen: list[dict[str, Any]] = []
    sd.run(arm, output=tmp_path / "x.npz", progress=seen.append)
    steps = [e for e in seen if e["event"] == "progress"]
    assert steps and steps[-1]["done"] == steps[-1]["total"] == 101


def test_an_exception_of_progress_stops_the_job(tmp_path: Path, arm: sd.Character) -> None:
    class OwnError(Exception):
        pass

    def fail(event: dict[str, Any]) -> None:
        raise OwnError(event["event"])

    with pytest.raises(OwnError):
        sd.run(arm, output=tmp_path / "x.npz", frames="0-5000", progress=fail)
    assert not (tmp_path / "x.npz").exists()


def long_job(folder: Path, arm: sd.Character, **more: Any) -> None:
    sd.run(arm, MUSH, output=folder / "x.npz", frames=range(1_000_000), **more)


def test_cancel_stops_a_job(tmp_path: Path, arm: sd.Character) -> None:
    cancel = threading.Event()
    timer = threading.Timer(0.5, cancel.set)
    timer.start()
    with pytest.raises(sd.Cancelled):
        long_job(tmp_path, arm, cancel=cancel)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_stops_a_job(tmp_path: Path, arm: sd.Character) -> None:
    # Shells ignore the signal for what they run in the background, and Python leaves it so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            long_job(tmp_path, arm)
    finally:
        signal.signal(signal.SIGINT, before)
    assert list(tmp_path.iterdir()) == []


def test_messages_go_to_the_log_and_not_to_the_terminal(
    tmp_path: Path, arm: sd.Character, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG, logger="sinew_deform"):
        report = sd.run(arm, sd.Graph.from_nodes(sd.nodes.smooth()), output=tmp_path / "x.npz", frames=0)
    levels = {record.levelno for record in caplog.records}
    assert {logging.DEBUG, logging.INFO, logging.WARNING} <= levels
    assert [e["level"] for e in report.warnings] == ["warning"] * len(report.warnings)
    assert report.warnings
    assert capfd.readouterr() == ("", "")


def test_warnings_of_files_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "unused.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 1 2\n")
    with caplog.at_level(logging.WARNING, logger="sinew_deform"):
        character = sd.load(file)
    assert [w.message for w in character.warnings] == [r.getMessage() for r in caplog.records]


def test_render_gives_the_picture_of_the_program(program: str, tmp_path: Path, arm: sd.Character) -> None:
    file = tmp_path / "arm.png"
    options = ["--frames", "20", "--size", "160x120"]
    done = subprocess.run([program, "render", "sample:arm", "-o", str(file), *options, "-q"], check=False)
    if done.returncode == 7:
        assert "SINEW_REQUIRE_GPU" not in os.environ
        print("skipped: no GPU adapter")
        pytest.skip("no GPU adapter")
    pixels = sd.render(arm, frames=20, size=(160, 120))
    assert pixels.shape == (120, 160, 4) and pixels.dtype == np.uint8
    np.testing.assert_array_equal(pixels, sd.read_picture(file))
    image = sd.render(arm, frames=20, size=(160, 120), pil=True)
    np.testing.assert_array_equal(np.asarray(image), pixels)
    sd.render(arm, output=tmp_path / "own.png", frames=20, size="160x120")
    np.testing.assert_array_equal(sd.read_picture(tmp_path / "own.png"), pixels)


def test_pose_drivers(tmp_path: Path, arm: sd.Character) -> None:
    graph = sd.Graph.template(arm, "driver", "forearm")
    assert sd.psd.check(graph).data is not None
    sd.psd.plot(graph, output=tmp_path / "plot.png")
    assert (tmp_path / "plot.png").exists()


def test_every_command_is_a_function_with_every_argument() -> None:
    left_out = {"completions", "man", "schema", "nodes"}
    for command in json.loads(_native.commands()):
        path = command["path"]
        if path[0] in left_out:
            continue
        module = {"psd": sd.psd, "vat": sd.vat}.get(path[0])
        words = path if module is None else path[1:]
        function = getattr(module or sd, "_".join(words).replace("-", "_"))
        taken = set(inspect.signature(function).parameters)
        expected = len([a for a in command["args"] if a["id"] not in {"log_format", "quiet", "help", "version"}])
        more = {"inspect": -1, "render": 1}.get(path[0], 0) if module is None else 0
        assert len(taken - {"progress", "cancel"}) == expected + more, path


@pytest.mark.short
def test_arguments() -> None:
    arguments = Arguments("run")
    arguments.option("--size", (3, 4), "x")
    arguments.option("--level", -0.5)
    arguments.option("--force", True)
    arguments.option("--resume", False)
    arguments.frames("--frames", range(0, 10, 3))
    arguments.repeat("--output", [Path("a"), "b"])
    arguments.repeat("--box", [0, 1, 2], numbers=True)
    arguments.repeat("--box", [[0, 1], [2, 3]], numbers=True)
    arguments.pairs("--set", {"a": 1, "b": [1, 2], "c": "word", "d": True})
    arguments.pairs("--range", {"walk": (0, 23)}, "..")
    arguments.position("in.glb")
    assert arguments.positions == ["in.glb"]
    assert arguments.options == [
        "--size=3x4",
        "--level=-0.5",
        "--force",
        "--frames=0-9/3",
        "--output=a",
        "--output=b",
        "--box=0,1,2",
        "--box=0,1",
        "--box=2,3",
        "--set=a=1",
        "--set=b=[1, 2]",
        "--set=c=word",
        "--set=d=true",
        "--range=walk=0..23",
    ]


@pytest.mark.short
@pytest.mark.parametrize(
    ("text", "data"),
    [("", None), (" \n", None), ('{"a": 1}\n', {"a": 1}), ('{\n"a": 1\n}\n', {"a": 1}), ("1\n2\n", [1, 2]), ("a b\n", "a b\n")],
)
def test_reports_are_parsed(text: str, data: object) -> None:
    assert _parsed(text) == data


@pytest.mark.short
def test_json_of_arrays_paths_and_nodes() -> None:
    value = {"a": np.arange(3), "b": np.float32(0.5), "c": Path("x"), "d": sd.param("p"), "e": sd.nodes.smooth(iterations=2)}
    assert json.loads(to_json(value)) == {"a": [0, 1, 2], "b": 0.5, "c": "x", "d": "$p", "e": {"node": "smooth", "iterations": 2}}
    with pytest.raises(TypeError, match="object"):
        to_json(object())
