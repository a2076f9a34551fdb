//! What is fitted: joints and deformed vertices at some moments.

use super::SkinError;
use sinew_geom::{Affine, Influences, Real, Topology, Vec3};
use std::ops::Range;

/// Name of samples before any group began.
const UNNAMED: &str = "samples";

/// Samples that belong together: a clip, or the ranges of joints.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SampleGroup {
    /// Name of the clip; `joint ranges` for those.
    pub name: String,
    /// Which of the samples.
    pub samples: Range<usize>,
    /// The clip, an index into the character's; `None` of joint ranges and of the rest pose, which can have no keys of their own.
    pub clip: Option<usize>,
    /// When each of them is in the clip, seconds, rising.
    pub times_secs: Vec<f32>,
    /// Whether helpers and morph targets do what they like in its samples: in those of clips, which can have keys of their own, and in all that they
    /// are driven in by the pose. In others helpers follow their parents and morph targets rest.
    pub is_free: bool,
}

impl SampleGroup {
    /// Whether its samples are moments of a clip.
    pub fn is_clip(&self) -> bool {
        self.clip.is_some()
    }
}

/// Joints and deformed positions at all moments. Scene space, metres.
#[derive(Clone, Debug, Default)]
pub struct SkinSamples {
    groups: Vec<SampleGroup>,
    /// Joint after joint: each has a transform for every sample.
    motion: Vec<Vec<Affine<f64>>>,
    positions: Vec<Vec<[f32; 3]>>,
    /// Rest positions with the morph targets of the moment, where they differ from the rest positions.
    morphed: Vec<Option<Vec<[f32; 3]>>>,
}

impl SkinSamples {
    /// None yet, for `joints` joints.
    pub fn new(joints: usize) -> Self {
        Self {
            motion: vec![Vec::new(); joints],
            ..Self::default()
        }
    }

    /// Begins a group; what is pushed from now on belongs to it.
    pub fn begin(&mut self, name: impl Into<String>, clip: Option<usize>) {
        let at = self.len();
        self.groups.push(SampleGroup {
            name: name.into(),
            samples: at..at,
            clip,
            times_secs: Vec::new(),
            is_free: clip.is_some(),
        });
    }

    /// Lets helpers and morph targets do what they like in samples of no clip, too: what drives them follows the pose.
    pub fn free_all(&mut self) {
        self.groups.iter_mut().for_each(|g| g.is_free = true);
    }

    /// A moment: where skinning with one joint alone would take rest positions, for each joint; deformed positions; rest positions with morph
    /// targets, where those are not zero; the time in the clip.
    ///
    /// # Errors
    /// [`SkinError::Counts`] where the lists do not fit those before, [`SkinError::NotFinite`] where a number is none; nothing is added then.
    pub fn push(
        &mut self,
        palette: &[Affine<f64>],
        positions: Vec<[f32; 3]>,
        morphed: Option<Vec<[f32; 3]>>,
        time_secs: f32,
    ) -> Result<(), SkinError> {
        let count = |what, found, expected| match found == expected {
            true => Ok(()),
            false => Err(SkinError::Counts {
                what,
                found,
                expected,
            }),
        };
        count("joints", palette.len(), self.motion.len())?;
        let vertices = self.positions.first().map_or(positions.len(), Vec::len);
        count("deformed positions", positions.len(), vertices)?;
        let rest = morphed.as_ref().map_or(vertices, Vec::len);
        count("rest positions", rest, vertices)?;
        self.check_finite(palette, &positions, morphed.as_deref(), time_secs)?;
        if self.groups.is_empty() {
            self.begin(UNNAMED, None);
        }
        for (joint, now) in self.motion.iter_mut().zip(palette) {
            joint.push(*now);
        }
        self.positions.push(positions);
        self.morphed.push(morphed);
        if let Some(group) = self.groups.last_mut() {
            group.samples.end += 1;
            group.times_secs.push(time_secs);
        }
        Ok(())
    }

    /// Least squares make something of everything: what is no number must not come in.
    fn check_finite(
        &self,
        palette: &[Affine<f64>],
        positions: &[[f32; 3]],
        morphed: Option<&[[f32; 3]]>,
        time_secs: f32,
    ) -> Result<(), SkinError> {
        let is_wrong = |p: &[f32; 3]| p.iter().any(|c| !c.is_finite());
        let morphed = morphed.unwrap_or_default();
        let found = [
            ("joint", palette.iter().position(|m| !m.is_finite())),
            ("vertex", positions.iter().position(is_wrong)),
            ("rest position of vertex", morphed.iter().position(is_wrong)),
            ("time", (!time_secs.is_finite()).then_some(0)),
        ];
        let mut found = found.into_iter().filter_map(|(what, at)| Some((what, at?)));
        let Some((what, index)) = found.next() else {
            return Ok(());
        };
        let group = self.groups.last();
        Err(SkinError::NotFinite {
            group: group.map_or_else(|| UNNAMED.into(), |g| g.name.clone()),
            frame: group.map_or(0, |g| g.samples.len()),
            what,
            index,
        })
    }

    /// How many moments.
    pub fn len(&self) -> usize {
        self.positions.len()
    }
    /// Whether there is no moment.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }
    /// Clips and joint ranges, in the order of their samples.
    pub fn groups(&self) -> &[SampleGroup] {
        &self.groups
    }
    /// # Errors
    /// [`SkinError::Group`] names the first group without samples, of a clip that another one has, or with times that do not rise.
    pub(crate) fn check_groups(&self) -> Result<(), SkinError> {
        for (k, group) in self.groups.iter().enumerate() {
            let wrong = |found: String, expected| {
                Err(SkinError::Group {
                    name: group.name.clone(),
                    found,
                    expected,
                })
            };
            if group.samples.is_empty() {
                return wrong("no sample".into(), "one at least");
            }
            let mut before = self.groups.iter().take(k);
            if let Some(clip) = group.clip
                && before.any(|g| g.clip == Some(clip))
            {
                return wrong(format!("clip {clip} twice"), "each clip once");
            }
            let times = group.times_secs.windows(2);
            let falls = times.clone().position(|t| t[0] >= t[1]);
            if let (true, Some(at)) = (group.is_clip(), falls) {
                let times = &group.times_secs[at..at + 2];
                return wrong(
                    format!("sample {} at {} s behind {} s", at + 1, times[1], times[0]),
                    "times that rise",
                );
            }
        }
        Ok(())
    }
    /// The group that a sample is of.
    pub fn group_of(&self, sample: usize) -> Option<&SampleGroup> {
        self.groups.iter().find(|g| g.samples.contains(&sample))
    }
    /// How many joints.
    pub(crate) fn joint_count(&self) -> usize {
        self.motion.len()
    }
    /// The transforms of a joint, one a sample.
    pub fn motion(&self, joint: usize) -> &[Affine<f64>] {
        &self.motion[joint]
    }
    /// Deformed positions of a sample.
    pub fn positions(&self, sample: usize) -> &[[f32; 3]] {
        &self.positions[sample]
    }
    /// Rest positions of a sample: `rest` but for morph targets.
    pub(crate) fn rest<'a>(&'a self, sample: usize, rest: &'a [[f32; 3]]) -> &'a [[f32; 3]] {
        self.morphed[sample].as_deref().unwrap_or(rest)
    }
}

/// A character's vertices with what its samples are.
#[derive(Clone, Copy, Debug)]
pub struct SkinProblem<'a> {
    /// Rest positions, scene space at bind.
    pub rest: &'a [[f32; 3]],
    /// Triangles over these vertices.
    pub topology: &'a Topology,
    /// Weights of the source: what is kept where samples say nothing.
    pub authored: &'a Influences,
    /// For each joint the nearest one above it of the same skin.
    pub parents: &'a [Option<usize>],
    /// For each joint the skin that it is of: a vertex follows joints of one skin.
    pub skins: &'a [u32],
    /// What is to be shown.
    pub samples: &'a SkinSamples,
}

impl SkinProblem<'_> {
    /// # Errors
    /// [`SkinError`] names what does not fit.
    pub(crate) fn check(&self) -> Result<(), SkinError> {
        let vertices = self.rest.len();
        if self.samples.is_empty() || vertices == 0 {
            return Err(SkinError::Nothing {
                samples: self.samples.len(),
                vertices,
            });
        }
        self.samples.check_groups()?;
        let is_wrong = |p: &[f32; 3]| p.iter().any(|c| !c.is_finite());
        if let Some(index) = self.rest.iter().position(is_wrong) {
            return Err(SkinError::NotFinite {
                group: "rest".into(),
                frame: 0,
                what: "vertex",
                index,
            });
        }
        let counts = [
            ("vertices of the topology", self.topology.vertex_count()),
            ("rows of weights", self.authored.vertex_count()),
            ("deformed positions", self.samples.positions(0).len()),
        ];
        let joints = self.samples.joint_count();
        let of_joints = [
            ("parents of joints", self.parents.len(), joints),
            ("skins of joints", self.skins.len(), joints),
        ];
        let all = counts.map(|(what, found)| (what, found, vertices));
        for (what, found, expected) in all.into_iter().chain(of_joints) {
            if found != expected {
                return Err(SkinError::Counts {
                    what,
                    found,
                    expected,
                });
            }
        }
        let parents = self.parents.iter().flatten();
        if let Some(&parent) = parents.clone().find(|p| **p >= joints) {
            return Err(SkinError::Counts {
                what: "joints up to the last parent",
                found: parent.saturating_add(1),
                expected: joints,
            });
        }
        match self
            .authored
            .joints()
            .iter()
            .find(|j| **j as usize >= joints)
        {
            Some(&joint) => Err(SkinError::Joint { joint, joints }),
            None => Ok(()),
        }
    }

    /// Length of the diagonal of the rest positions' box, metres.
    pub(crate) fn size(&self) -> f64 {
        let Some((low, high)) = sinew_geom::bounds(self.rest) else {
            return 0.0;
        };
        (f64::vec3(high) - f64::vec3(low)).norm()
    }

    /// The skin that a vertex is of.
    pub(crate) fn skin_of(&self, vertex: usize) -> Option<u32> {
        let joint = self.authored.row(vertex).next()?.0;
        self.skins.get(joint as usize).copied()
    }

    /// Where a vertex is in a sample.
    pub(crate) fn wanted(&self, sample: usize, vertex: usize) -> Vec3<f64> {
        f64::vec3(self.samples.positions(sample)[vertex])
    }

    /// Where a vertex is in a sample before skinning.
    pub(crate) fn rest_at(&self, sample: usize, vertex: usize) -> Vec3<f64> {
        f64::vec3(self.samples.rest(sample, self.rest)[vertex])
    }
}

/// Joints, and helpers behind them: each has a transform for every sample.
#[derive(Clone, Debug)]
pub(crate) struct Bones<'a> {
    samples: &'a SkinSamples,
    pub(crate) helpers: Vec<Vec<Affine<f64>>>,
}

impl<'a> Bones<'a> {
    pub(crate) fn new(samples: &'a SkinSamples) -> Self {
        Self {
            samples,
            helpers: Vec::new(),
        }
    }

    pub(crate) fn motion(&self, bone: u32) -> &[Affine<f64>] {
        let bone = bone as usize;
        match bone.checked_sub(self.samples.joint_count()) {
            None => self.samples.motion(bone),
            Some(helper) => &self.helpers[helper],
        }
    }

    /// The blended transform of a row in a sample.
    pub(crate) fn blend(&self, row: &[(u32, f64)], sample: usize) -> Affine<f64> {
        let mut out = Affine {
            linear: sinew_geom::Mat3::zeros(),
            translation: Vec3::zeros(),
        };
        for &(bone, weight) in row {
            let m = &self.motion(bone)[sample];
            out.linear += m.linear * weight;
            out.translation += m.translation * weight;
        }
        out
    }
}

/// Weights of a vertex: bones, rising, each once.
pub(crate) type Row = Vec<(u32, f64)>;
