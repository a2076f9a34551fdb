//! Several clips in one sequence of frames: one behind the other, each with its name.

use crate::{BakeError, CarrierMaterial, FrameSource, LoadOrder, LoadedFrame};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Frames of a sequence that belong together. Nothing goes from one of them to another: no match, no blend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameRange {
    /// What players call it.
    pub name: String,
    /// Its first frame, by index from zero.
    pub first: usize,
    /// How many frames it has, one at least.
    pub count: usize,
}

/// A range of frames by the numbers that the user knows, both ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberRange {
    /// What players call it.
    pub name: String,
    /// Number of the first frame.
    pub first: i64,
    /// Number of the last frame.
    pub last: i64,
}

impl std::str::FromStr for NumberRange {
    type Err = String;

    /// `NAME=FIRST..LAST` or `NAME=FIRST-LAST`.
    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('=').and_then(|(name, range)| {
            let (first, last) = range.split_once("..").or_else(|| range.split_once('-'))?;
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            let name = (!name.is_empty()).then(|| name.to_owned())?;
            (first <= last).then_some(Self { name, first, last })
        });
        parsed.ok_or_else(|| {
            format!("'{text}' names no range of frames, expected NAME=FIRST..LAST in ascending order: walk=0..23 or walk=0-23")
        })
    }
}

/// Sequences one behind the other, each a clip.
pub struct ChainedFrames {
    name: String,
    parts: Vec<Box<dyn FrameSource + Send>>,
    clips: Vec<FrameRange>,
}

impl std::fmt::Debug for ChainedFrames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("ChainedFrames");
        out.field("name", &self.name).field("clips", &self.clips);
        out.finish_non_exhaustive()
    }
}

impl ChainedFrames {
    /// Of clips and their names; `name` is that of the bake.
    ///
    /// # Errors
    /// [`BakeError::Setting`] where two have the same name; [`BakeError::NoFrames`] where one has no frame.
    pub fn new(
        name: impl Into<String>,
        parts: Vec<(String, Box<dyn FrameSource + Send>)>,
    ) -> Result<Self, BakeError> {
        let mut out = Self {
            name: name.into(),
            parts: Vec::new(),
            clips: Vec::new(),
        };
        for (name, part) in parts {
            out.clips
                .push(behind(&out.clips, name, part.frame_count())?);
            out.parts.push(part);
        }
        Ok(out)
    }

    /// The part that a frame is of, and its index there.
    fn part(&self, frame: usize) -> (&dyn FrameSource, usize) {
        let i = self.clips.partition_point(|c| c.first <= frame) - 1;
        (self.parts[i].as_ref(), frame - self.clips[i].first)
    }
}

/// The clip that follows those before it.
fn behind(before: &[FrameRange], name: String, count: usize) -> Result<FrameRange, BakeError> {
    if before.iter().any(|c| c.name == name) {
        let found = format!("'{name}' twice");
        return Err(BakeError::setting("clips", found, "each name once"));
    }
    if count == 0 {
        return Err(BakeError::NoFrames { name });
    }
    let first = before.last().map_or(0, |c| c.first + c.count);
    Ok(FrameRange { name, first, count })
}

impl FrameSource for ChainedFrames {
    fn name(&self) -> &str {
        &self.name
    }
    fn frame_count(&self) -> usize {
        self.clips.last().map_or(0, |c| c.first + c.count)
    }
    fn clips(&self) -> Vec<FrameRange> {
        self.clips.clone()
    }
    fn number(&self, frame: usize) -> i64 {
        let (part, frame) = self.part(frame);
        part.number(frame)
    }
    fn key(&self, frame: usize) -> Result<String, BakeError> {
        let (part, frame) = self.part(frame);
        part.key(frame)
    }
    fn file(&self, frame: usize) -> Option<PathBuf> {
        let (part, frame) = self.part(frame);
        part.file(frame)
    }
    fn origin(&self) -> Option<[f64; 3]> {
        // Parts are counted from one place, or are characters, which have none.
        self.parts.first().and_then(|p| p.origin())
    }
    fn materials(&self) -> Vec<CarrierMaterial> {
        // Parts are clips of one character.
        let first = self.parts.first();
        first.map_or_else(Vec::new, |p| p.materials())
    }
    fn order(&self) -> LoadOrder {
        let mut orders = self.parts.iter().map(|p| p.order());
        match orders.any(|order| order == LoadOrder::Rising) {
            true => LoadOrder::Rising,
            false => LoadOrder::Any,
        }
    }
    fn load(&self, frame: usize) -> Result<LoadedFrame, BakeError> {
        let (part, frame) = self.part(frame);
        part.load(frame)
    }
}

/// Ranges of one sequence, each a clip; frames that no range names are left out, and ranges may share frames.
pub struct RangedFrames<S> {
    source: S,
    /// Index in the source of each frame.
    frames: Vec<usize>,
    clips: Vec<FrameRange>,
}

impl<S: std::fmt::Debug> std::fmt::Debug for RangedFrames<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("RangedFrames");
        out.field("source", &self.source)
            .field("clips", &self.clips);
        out.finish_non_exhaustive()
    }
}

impl<S: FrameSource> RangedFrames<S> {
    /// Of a sequence whose frames may be asked for in any order.
    ///
    /// # Errors
    /// [`BakeError::Setting`] where two have the same name, or an end of a range is no frame of the sequence.
    pub fn new(source: S, ranges: &[NumberRange]) -> Result<Self, BakeError> {
        let (mut frames, mut clips) = (Vec::new(), Vec::new());
        for range in ranges {
            let numbers = (0..source.frame_count()).map(|f| (f, source.number(f)));
            let within = numbers.filter(|(_, n)| (range.first..=range.last).contains(n));
            let found: Vec<(usize, i64)> = within.collect();
            let ends = [found.first(), found.last()].map(|end| end.map(|e| e.1));
            if ends != [Some(range.first), Some(range.last)] {
                let NumberRange { name, first, last } = range;
                let found = format!("{name}={first}..{last}, whose ends are not both there");
                let expected = "numbers of frames that the sequence has";
                return Err(BakeError::setting("range", found, expected));
            }
            clips.push(behind(&clips, range.name.clone(), found.len())?);
            frames.extend(found.into_iter().map(|f| f.0));
        }
        Ok(Self {
            source,
            frames,
            clips,
        })
    }
}

impl<S: FrameSource> FrameSource for RangedFrames<S> {
    fn name(&self) -> &str {
        self.source.name()
    }
    fn frame_count(&self) -> usize {
        self.frames.len()
    }
    fn clips(&self) -> Vec<FrameRange> {
        self.clips.clone()
    }
    fn number(&self, frame: usize) -> i64 {
        self.source.number(self.frames[frame])
    }
    fn key(&self, frame: usize) -> Result<String, BakeError> {
        self.source.key(self.frames[frame])
    }
    fn file(&self, frame: usize) -> Option<PathBuf> {
        self.source.file(self.frames[frame])
    }
    fn origin(&self) -> Option<[f64; 3]> {
        self.source.origin()
    }
    fn materials(&self) -> Vec<CarrierMaterial> {
        self.source.materials()
    }
    fn order(&self) -> LoadOrder {
        self.source.order()
    }
    fn load(&self, frame: usize) -> Result<LoadedFrame, BakeError> {
        self.source.load(self.frames[frame])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MeshFrames;
    use sinew_geom::Mesh;

    fn frames(count: usize) -> MeshFrames {
        let mesh = |f: usize| Mesh {
            name: format!("{f}"),
            ..Mesh::default()
        };
        MeshFrames::new("all", (0..count).map(mesh).collect())
    }

    fn named(source: &dyn FrameSource) -> Vec<String> {
        let name = |f| source.load(f).expect("there").mesh.name;
        (0..source.frame_count()).map(name).collect()
    }

    fn range(name: &str, first: usize, count: usize) -> FrameRange {
        let name = name.into();
        FrameRange { name, first, count }
    }

    #[test]
    fn ranges_take_their_frames_and_nothing_else() {
        let ranges = ["a=5..7", "b=0..1", "c=7..7"].map(|t| t.parse().expect("a range"));
        let made = RangedFrames::new(frames(9), &ranges).expect("frames that are there");
        assert_eq!(named(&made), ["5", "6", "7", "0", "1", "7"]);
        assert_eq!(
            made.clips(),
            [range("a", 0, 3), range("b", 3, 2), range("c", 5, 1)]
        );
        assert_eq!(made.number(3), 0);
        for wrong in [&["a=7..9"][..], &["a=0..1", "a=2..3"]] {
            let ranges: Vec<NumberRange> =
                wrong.iter().map(|t| t.parse().expect("a range")).collect();
            assert!(RangedFrames::new(frames(9), &ranges).is_err(), "{wrong:?}");
        }
        for wrong in ["", "a", "a=1", "a=3..1", "=0..1", "a=x..2"] {
            assert!(wrong.parse::<NumberRange>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn chains_are_one_clip_behind_the_other() {
        let part = |n| Box::new(frames(n)) as Box<dyn FrameSource + Send>;
        let parts = vec![("walk".to_owned(), part(3)), ("run".to_owned(), part(2))];
        let made = ChainedFrames::new("hero", parts).expect("two clips");
        assert_eq!(named(&made), ["0", "1", "2", "0", "1"]);
        assert_eq!(made.clips(), [range("walk", 0, 3), range("run", 3, 2)]);
        let twice = vec![("walk".to_owned(), part(3)), ("walk".to_owned(), part(2))];
        assert!(ChainedFrames::new("hero", twice).is_err());
        assert!(ChainedFrames::new("hero", vec![("none".to_owned(), part(0))]).is_err());
    }
}
