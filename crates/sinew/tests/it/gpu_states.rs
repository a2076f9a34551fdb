//! Runs of hair on GPUs that go on from a saved state: the same bits as one run in one piece.

use sinew::gpu::Gpu;
use sinew::graph::{BoundGraph, StateError, StateHome};
use sinew::play::{
    Character, Document, Output, PlayError, PlayInputs, Player, Runner, StateFault, saved_frame,
};
use std::sync::Arc;

/// The body is skinned and its field built on the device, each frame in which it moves; the collar's field comes from the host.
const HAIR: &str = r#"{"sinew": "1.0",
 "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "hair": {"type": "strands"}},
 "nodes": {"skin": {"node": "skin", "mesh": "body", "pose": "pose"},
  "field": {"node": "sdf", "mesh": "skin", "cells": 16, "sign": "winding_number"},
  "collar": {"node": "solids", "capsules": [{"from": [-0.1, 0.05, -0.03], "to": [0.1, 0.05, -0.03], "radius": 0.07}]},
  "sim": {"node": "hair_sim", "strands": "hair", "pose": "pose", "colliders": ["field", "collar"], "margins": [0.002, 0]}},
 "outputs": {"body": "skin", "hair": "sim"}}"#;

/// A head with hair, bound.
struct Head {
    cast: PlayInputs,
    graph: Arc<BoundGraph>,
}

impl Head {
    fn new(text: &str) -> Self {
        let head = sinew_samples::head().expect("a sample");
        let head = Arc::new(Character::from_asset(head));
        let document = Document::from_text("hair.json", text, "");
        let plan = Arc::new(document.compile().expect("a correct document"));
        let cast = PlayInputs::load(head, &plan, &document.folders).expect("assembles");
        let graph = cast.bind(&plan, &[]).expect("binds");
        Self { cast, graph }
    }

    fn player(&self, runner: Runner) -> Player {
        let cast = self.cast.clone();
        Player::new(runner, cast, Vec::new(), None, 30.0).expect("plays")
    }

    fn on_device(&self, gpu: &Gpu) -> Player {
        self.player(Runner::gpu(gpu, &self.graph).unwrap_or_else(|e| panic!("{e}")))
    }

    fn on_processor(&self) -> Player {
        self.player(Runner::cpu(&self.graph))
    }
}

/// Plays frames; gives the outputs of each.
fn play(player: &mut Player, frames: std::ops::Range<i64>) -> Vec<Vec<(String, Output)>> {
    let frame = |n| {
        player.advance(n).unwrap_or_else(|e| panic!("{e}"));
        player.read_outputs().unwrap_or_else(|e| panic!("{e}"))
    };
    frames.map(frame).collect()
}

fn refusal(player: &mut Player, state: &[u8]) -> StateError {
    match player.restore_state(state).expect_err("does not fit") {
        PlayError::State(StateFault::Instance(error)) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn hair_goes_on_from_a_saved_state() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let head = Head::new(HAIR);
    let mut whole = head.on_device(&gpu);
    play(&mut whole, 0..2);
    let state = whole.save_state().unwrap_or_else(|e| panic!("{e}"));
    let expected = play(&mut whole, 2..4);
    assert!(expected[0] != expected[1], "hair moves");

    let mut other = head.on_device(&gpu);
    // Somewhere else, and an odd number of frames: buffers that change places are then the other way round.
    play(&mut other, 10..11);
    assert_eq!(other.restore_state(&state).expect("of this graph"), 1);
    assert!(play(&mut other, 2..4) == expected, "the same bits");

    assert_eq!(saved_frame(&state).map(|s| s.home), Some(StateHome::Gpu));
    let elsewhere = refusal(&mut head.on_processor(), &state);
    assert_eq!(
        elsewhere.to_string(),
        "the state was saved on the GPU and can resume only there, but this run is on the CPU"
    );
    let mut processor = head.on_processor();
    play(&mut processor, 0..2);
    let of_processor = processor.save_state().expect("saves");
    assert_eq!(
        saved_frame(&of_processor).map(|s| s.home),
        Some(StateHome::Cpu)
    );
    let mut other = head.on_device(&gpu);
    play(&mut other, 0..2);
    let elsewhere = refusal(&mut other, &of_processor);
    assert_eq!(
        elsewhere.to_string(),
        "the state was saved on the CPU and can resume only there, but this run is on the GPU"
    );
    assert!(
        play(&mut other, 2..4) == expected,
        "what is refused changes nothing"
    );
}
