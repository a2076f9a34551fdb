//! Every second frame of a splash is left out and blended from its neighbours: how near is the blend to the truth?

use super::super::SurfaceDistance;
use super::super::surface::Surface;
use super::measure::{Corners, closed, corners, cracks, distance, halfway, paths, unmatched};
use super::ply::{self, Frame};
use super::{end_of, match_frames};

/// From the drawn surface to the true one, and back.
#[derive(Debug, Default)]
struct Error {
    out: SurfaceDistance,
    back: SurfaceDistance,
}

impl Error {
    fn add(&mut self, drawn: &[Corners], truth: &[Corners]) {
        self.out = self.out.and(&distance(drawn, truth));
        self.back = self.back.and(&distance(truth, drawn));
    }

    fn rms(&self) -> f64 {
        self.out.and(&self.back).rms()
    }

    fn report(&self, name: &str) {
        let (out, back) = (&self.out, &self.back);
        println!(
            "{name}: rms {:.5} out, {:.5} back; max {:.4} out, {:.4} back",
            out.rms(),
            back.rms(),
            out.max,
            back.max
        );
    }
}

fn errors(frames: &[Frame], every: usize) -> [Error; 4] {
    let mut errors = [(); 4].map(|()| Error::default());
    let (mut crack, mut edge, mut alone, mut count) = (0.0, 0.0, 0, 0);
    for triple in frames.windows(3).step_by(every) {
        let [from, held_back, to] = triple else {
            continue;
        };
        let step = match_frames(from, to);
        let truth = corners(held_back);
        errors[0].add(&halfway(&paths(from, to, &step)), &truth);
        errors[1].add(&halfway(&unmatched(from, to)), &truth);
        errors[2].add(&corners(from), &truth);
        let end = end_of(from, to, &step);
        errors[3].add(&halfway(&closed(from, to, &end)), &truth);
        crack += cracks(from, to, &step);
        edge += f64::from(Surface::new(&from.view(), 0.0).edge);
        alone += step.births.len() + step.deaths.len();
        count += 1;
    }
    for (error, name) in errors
        .iter()
        .zip(["matched", "as in the files", "stepping", "closed"])
    {
        error.report(name);
    }
    let pairs = f64::from(count);
    println!(
        "cracks {:.5} of edges {:.5}; {} born or dead",
        crack / pairs,
        edge / pairs,
        alone / count as usize
    );
    errors
}

#[test]
fn blends_of_a_splash_are_nearer_to_the_truth_than_steps() {
    let Some(frames) = ply::sequence("liquid_splash") else {
        return;
    };
    let [matched, files, stepping, closed] = errors(&frames, 14);
    assert!(
        matched.rms() < files.rms() / 10.0,
        "{} of {}",
        matched.rms(),
        files.rms()
    );
    assert!(
        matched.rms() < stepping.rms() / 3.0,
        "{} of {}",
        matched.rms(),
        stepping.rms()
    );
    assert!(
        closed.rms() < matched.rms() * 1.1,
        "{} of {}",
        closed.rms(),
        matched.rms()
    );
    for (matched, stepping) in [(matched.out, stepping.out), (matched.back, stepping.back)] {
        assert!(
            matched.max <= stepping.max,
            "{} of {}",
            matched.max,
            stepping.max
        );
    }
}

#[test]
fn blends_of_a_cut_are_nearer_to_the_truth_than_steps() {
    let Some(frames) = ply::sequence("boolean_cut") else {
        return;
    };
    let [matched, files, stepping, closed] = errors(&frames, 2);
    // Where the cut goes through the ring, a part is in one frame and not in the other: nothing lies between.
    assert!(
        closed.rms() < stepping.rms() * 0.6,
        "{} of {}",
        closed.rms(),
        stepping.rms()
    );
    assert!(
        matched.rms() < files.rms() / 10.0 && matched.rms() < stepping.rms() / 2.0,
        "{} of {} and {}",
        matched.rms(),
        files.rms(),
        stepping.rms()
    );
}
