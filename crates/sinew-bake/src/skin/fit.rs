//! Weights, then helpers and weights in turn.

use super::candidates::{Candidate, Neighbourhood, candidates};
use super::helpers::{Helper, Region, begin, best_motion};
use super::samples::{Bones, Row, SkinProblem};
use super::settings::WeightMethod;
use super::weights::{Fit, Fitted, strength};
use super::{SkinError, SkinSettings};
use crate::Watch;
use rayon::prelude::*;
use sinew_geom::{Influences, index32};
use std::collections::BTreeSet;

/// Weights and helper in turn, before the next helper.
const TURNS: usize = 3;
/// Turns end where a round gains less than this share.
const GAIN: f64 = 1e-3;
/// What is off by less than this share of the size needs no helper.
const CLOSE: f64 = 1e-6;
/// Vertices between two looks at whether to stop.
const CHUNK: usize = 256;

/// What was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SkinFit {
    /// Rows of all vertices: joints, and behind them helpers in the order of [`Self::helpers`].
    pub influences: Influences,
    /// Joints that were added.
    pub helpers: Vec<Helper>,
    /// What each step came to.
    pub steps: Vec<Step>,
}

/// One step of the fit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// `weights`, `helper` (one more), `motion` of helpers.
    pub what: &'static str,
    /// Sum of squared distances and of the pull of the authored weights, square metres: never more than before, as long as helpers stay.
    pub objective: f64,
    /// Root mean square of the distances, metres.
    pub rms: f64,
}

/// Fits weights and helpers to samples. Uses the threads of the pool that it is called from; the result does not depend on their number.
///
/// Time is linear in the vertices: for each, `candidates² · samples` multiplications and some small systems.
///
/// # Errors
/// [`SkinError`]: counts that do not fit each other, settings that make no sense, [`SkinError::Cancelled`].
pub fn fit_skin(
    problem: &SkinProblem<'_>,
    settings: &SkinSettings,
    watch: &Watch<'_>,
) -> Result<SkinFit, SkinError> {
    settings.check()?;
    problem.check()?;
    let around = Neighbourhood::new(problem);
    let mut work = Work {
        problem,
        settings,
        watch,
        candidates: candidates(problem, &around, settings.candidates),
        around,
        bones: Bones::new(problem.samples),
        helpers: Vec::new(),
        fitted: Vec::new(),
        steps: Vec::new(),
    };
    work.first_weights()?;
    work.add_helpers()?;
    work.refine()?;
    work.finish()
}

struct Work<'a> {
    problem: &'a SkinProblem<'a>,
    settings: &'a SkinSettings,
    watch: &'a Watch<'a>,
    around: Neighbourhood,
    candidates: Vec<Vec<Candidate>>,
    bones: Bones<'a>,
    helpers: Vec<Helper>,
    fitted: Vec<Fitted>,
    steps: Vec<Step>,
}

impl Work<'_> {
    fn first_weights(&mut self) -> Result<(), SkinError> {
        let all: Vec<usize> = (0..self.problem.rest.len()).collect();
        self.fitted = match &self.settings.method {
            WeightMethod::Fitted => self.weights_of(self.watch, "weights", &all)?,
            WeightMethod::Given(rows) => self.given(rows)?,
        };
        self.note("weights");
        Ok(())
    }

    /// Rows of another method, the strongest of each.
    fn given(&self, rows: &Influences) -> Result<Vec<Fitted>, SkinError> {
        let (found, expected) = (rows.vertex_count(), self.problem.rest.len());
        if found != expected {
            let what = "rows of given weights";
            return Err(SkinError::Counts {
                what,
                found,
                expected,
            });
        }
        let joints = self.problem.samples.joint_count();
        if let Some(&joint) = rows.joints().iter().find(|j| **j as usize >= joints) {
            return Err(SkinError::Joint { joint, joints });
        }
        let row = |v: usize| -> Row {
            let strongest = rows.row(v).take(self.settings.influences);
            let mut row: Row = strongest.map(|(j, w)| (j, f64::from(w))).collect();
            let sum: f64 = row.iter().map(|r| r.1).sum();
            row.iter_mut()
                .for_each(|r| r.1 /= sum.max(f64::MIN_POSITIVE));
            row.sort_by_key(|r| r.0);
            row
        };
        let fit = self.fit();
        let all = (0..expected).into_par_iter();
        let judge = |v: usize| fit.judge(v, &self.candidates[v], &row(v));
        Ok(all.map(judge).collect())
    }

    fn fit(&self) -> Fit<'_> {
        Fit {
            problem: self.problem,
            bones: &self.bones,
            most: self.settings.influences,
            strength: strength(self.problem, self.settings.hold),
        }
    }

    /// The best weights of some vertices.
    fn weights_of(
        &self,
        watch: &Watch<'_>,
        what: &'static str,
        vertices: &[usize],
    ) -> Result<Vec<Fitted>, SkinError> {
        let fit = self.fit();
        let stage = watch.stage(what, vertices.len().div_ceil(CHUNK));
        let of_chunk = |chunk: &[usize]| {
            stage.go_on().map_err(|_| SkinError::Cancelled)?;
            let one = |&v: &usize| {
                let before = self.fitted.get(v).map(|f| &f.row);
                fit.fit(v, &self.candidates[v], before)
            };
            let found: Vec<Fitted> = chunk.iter().map(one).collect();
            stage.step();
            Ok(found)
        };
        let chunks = vertices.par_chunks(CHUNK).map(of_chunk);
        let chunks: Vec<Vec<Fitted>> = chunks.collect::<Result<_, SkinError>>()?;
        Ok(chunks.into_iter().flatten().collect())
    }

    fn refit(&mut self, vertices: &[usize]) -> Result<(), SkinError> {
        // Each helper asks for it several times; `add_helpers` reports the progress.
        let quiet = Watch::new(self.watch.is_cancelled, &|_, _, _| {});
        let found = self.weights_of(&quiet, "helpers", vertices)?;
        for (&v, fitted) in vertices.iter().zip(found) {
            self.fitted[v] = fitted;
        }
        Ok(())
    }

    /// Moves a helper as well as can be, and judges the vertices that it carries anew.
    fn move_helper(&mut self, helper: usize) {
        let motion = best_motion(self.problem, &self.bones, &self.fitted, helper);
        self.bones.helpers[helper].clone_from(&motion);
        self.helpers[helper].motion = motion;
        let carried = self.carried(helper);
        let fit = self.fit();
        let judge = |&v: &usize| fit.judge(v, &self.candidates[v], &self.fitted[v].row);
        let judged: Vec<Fitted> = carried.par_iter().map(judge).collect();
        for (&v, fitted) in carried.iter().zip(judged) {
            self.fitted[v] = fitted;
        }
    }

    fn carried(&self, helper: usize) -> Vec<usize> {
        let index = self.problem.samples.joint_count() + helper;
        let follows = |v: &usize| self.fitted[*v].row.iter().any(|r| r.0 as usize == index);
        (0..self.fitted.len()).filter(follows).collect()
    }

    fn note(&mut self, what: &'static str) {
        let objective = self.fitted.iter().map(|f| f.objective).sum();
        let energy: f64 = self.fitted.iter().map(|f| f.energy).sum();
        let count = self.problem.samples.len() * self.fitted.len();
        let rms = (energy / count.max(1) as f64).sqrt();
        self.steps.push(Step {
            what,
            objective,
            rms,
        });
    }

    fn add_helpers(&mut self) -> Result<(), SkinError> {
        let close = CLOSE * self.problem.size();
        let least = close * close * self.problem.samples.len() as f64;
        let is_free = self.problem.samples.groups().iter().any(|g| g.is_free);
        let mut closed = BTreeSet::new();
        while is_free && self.helpers.len() < self.settings.helpers {
            let region = Region::worst(self.problem, &self.around, &self.fitted, &closed, least);
            let Some(region) = region else { break };
            (self.watch.progress)("helpers", self.helpers.len(), self.settings.helpers);
            if !self.add_helper(&region)? {
                closed.extend(region.core);
            }
        }
        Ok(())
    }

    /// Whether it was of use.
    fn add_helper(&mut self, region: &Region) -> Result<bool, SkinError> {
        let Some(helper) = begin(self.problem, &self.around, region, &self.fitted) else {
            return Ok(false);
        };
        let index = self.helpers.len();
        let bone = self.problem.samples.joint_count() + index;
        let bone = index32(bone);
        let vertices = region.vertices(self.problem, &self.around);
        self.bones.helpers.push(helper.motion.clone());
        self.helpers.push(helper);
        // Nothing holds a helper back.
        let candidate = Candidate { bone, share: 1.0 };
        for &v in &vertices {
            self.candidates[v].push(candidate);
        }
        self.refit(&vertices)?;
        for _ in 1..TURNS {
            self.move_helper(index);
            self.refit(&vertices)?;
        }
        if self.carried(index).is_empty() {
            for &v in &vertices {
                self.candidates[v].pop();
            }
            self.bones.helpers.pop();
            self.helpers.pop();
            return Ok(false);
        }
        self.note("helper");
        Ok(true)
    }

    /// All helpers and the vertices that may follow any, in turn.
    fn refine(&mut self) -> Result<(), SkinError> {
        if self.helpers.is_empty() {
            return Ok(());
        }
        let joints = self.problem.samples.joint_count();
        let may = |v: &usize| {
            self.candidates[*v]
                .last()
                .is_some_and(|c| c.bone as usize >= joints)
        };
        let vertices: Vec<usize> = (0..self.fitted.len()).filter(may).collect();
        for _ in 0..self.settings.rounds {
            let before = self.steps.last().map_or(0.0, |s| s.objective);
            (0..self.helpers.len()).for_each(|h| self.move_helper(h));
            self.note("motion");
            self.refit(&vertices)?;
            self.note("weights");
            let after = self.steps.last().map_or(0.0, |s| s.objective);
            if after >= before * (1.0 - GAIN) {
                break;
            }
        }
        Ok(())
    }

    /// Rows in single precision; helpers that carry nothing any more go.
    fn finish(mut self) -> Result<SkinFit, SkinError> {
        let joints = self.problem.samples.joint_count();
        for helper in (0..self.helpers.len()).rev() {
            if self.carried(helper).is_empty() {
                self.helpers.remove(helper);
                let index = joints + helper;
                let rows = self.fitted.iter_mut().flat_map(|f| &mut f.row);
                rows.filter(|r| r.0 as usize > index).for_each(|r| r.0 -= 1);
            }
        }
        let single = |f: &Fitted| f.row.iter().map(|&(b, w)| (b, w as f32)).collect();
        let rows: Vec<Vec<(u32, f32)>> = self.fitted.iter().map(single).collect();
        let bones = joints + self.helpers.len();
        let cleaned = Influences::from_rows(rows.iter().map(Vec::as_slice), bones, 0);
        let (influences, _, _) = cleaned.map_err(|source| SkinError::Weights { source })?;
        Ok(SkinFit {
            influences,
            helpers: self.helpers,
            steps: self.steps,
        })
    }
}
