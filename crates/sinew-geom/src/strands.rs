//! Strands: polylines of the vertices of a mesh.

use crate::index32;
use crate::mesh::{Attribute, Mesh};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Name of the scalar vertex attribute with the thickness of strands: diameters in metres.
pub const THICKNESS: &str = "thickness";

/// Why [`Strands`] were refused.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrandsError {
    /// A strand has fewer than two vertices.
    #[error("strand {strand} has {found} vertices, but needs at least 2")]
    TooShort {
        /// Index of the strand.
        strand: usize,
        /// Number of its vertices.
        found: usize,
    },
    /// Together the strands have more vertices than 32-bit indices can address.
    #[error("the strands have {found} vertices, but at most {allowed} can be indexed")]
    TooManyVertices {
        /// Total number of vertices.
        found: usize,
        /// The limit.
        allowed: usize,
    },
    /// The number of guides is not the number of strands.
    #[error("found {found} guides, expected {expected}, one for each strand")]
    GuideCount {
        /// Number of entries.
        found: usize,
        /// Number of strands.
        expected: usize,
    },
    /// A strand follows a strand that does not exist, is not a guide, or has another number of vertices.
    #[error(
        "strand {strand} follows strand {guide}, which must be a guide with the same number of vertices"
    )]
    Guide {
        /// Index of the strand.
        strand: usize,
        /// Index of its guide.
        guide: u32,
    },
}

/// Strands of hair, fur or other curves: polylines with the root first, one after another, each with any number of vertices.
///
/// Some strands are *guides*. The others are *followers*: each follows one guide, vertex for vertex. Hair simulations move guides and
/// place followers around them.
///
/// Invariants: each strand has at least two vertices. A follower and its guide have the same number of vertices.
/// Constructors check them; deserialization does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strands {
    offsets: Vec<u32>,
    guides: Vec<u32>,
}

impl Mesh {
    /// Thickness of strands at each vertex ([`THICKNESS`]); `None` for other meshes and for unknown thickness.
    /// Also `None` if the attribute has another shape or length.
    pub fn strand_thickness(&self) -> Option<&[f32]> {
        self.topology.strands()?;
        match self.attributes.get(THICKNESS)? {
            Attribute::Scalar(all) if all.len() == self.vertex_count() => Some(all),
            _ => None,
        }
    }
}

impl Strands {
    /// Creates strands with these numbers of vertices. All are guides.
    /// No counts give no strands, which is valid.
    ///
    /// # Errors
    /// [`StrandsError::TooShort`] names the first strand with fewer than two vertices; [`StrandsError::TooManyVertices`].
    pub fn new(vertex_counts: impl IntoIterator<Item = usize>) -> Result<Self, StrandsError> {
        let mut offsets = vec![0];
        let mut end = 0_usize;
        for (strand, found) in vertex_counts.into_iter().enumerate() {
            if found < 2 {
                return Err(StrandsError::TooShort { strand, found });
            }
            end = end.saturating_add(found);
            offsets.push(index32(end));
        }
        let allowed = u32::MAX as usize;
        if end > allowed {
            let found = end;
            return Err(StrandsError::TooManyVertices { found, allowed });
        }
        let guides = (0..offsets.len() as u32 - 1).collect();
        Ok(Self { offsets, guides })
    }

    /// The same strands with other guides: `guides[s]` is the guide of strand `s`, or `s` if it is a guide.
    /// A guide leads itself: guides of guides are refused.
    ///
    /// # Errors
    /// [`StrandsError::GuideCount`], [`StrandsError::Guide`].
    pub fn with_guides(self, guides: Vec<u32>) -> Result<Self, StrandsError> {
        let (found, expected) = (guides.len(), self.len());
        if found != expected {
            return Err(StrandsError::GuideCount { found, expected });
        }
        for (strand, &guide) in guides.iter().enumerate() {
            let leads = guides.get(guide as usize) == Some(&guide);
            if !leads || self.range(strand).len() != self.range(guide as usize).len() {
                return Err(StrandsError::Guide { strand, guide });
            }
        }
        Ok(Self { guides, ..self })
    }

    /// Number of strands, including followers.
    pub fn len(&self) -> usize {
        self.guides.len()
    }
    /// Whether there is no strand.
    pub fn is_empty(&self) -> bool {
        self.guides.is_empty()
    }
    /// Number of vertices of all strands.
    pub fn vertex_count(&self) -> usize {
        self.offsets.last().map_or(0, |&end| end as usize)
    }
    /// `len() + 1` offsets: the vertices of strand `s` are `offsets()[s]..offsets()[s + 1]`.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }
    /// The guide of each strand; for a guide, itself.
    pub fn guides(&self) -> &[u32] {
        &self.guides
    }
    /// The vertices of one strand, root first.
    ///
    /// # Panics
    /// If there is no such strand.
    pub fn range(&self, strand: usize) -> Range<usize> {
        self.offsets[strand] as usize..self.offsets[strand + 1] as usize
    }
    /// The vertices of each strand.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        (0..self.len()).map(|s| self.range(s))
    }
    /// The vertices at both ends of each segment, strand after strand.
    /// Vertex indices are those of the mesh, root side first.
    pub fn segments(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        let ends = self.offsets.windows(2);
        ends.flat_map(|w| (w[0] + 1..w[1]).map(|v| [v - 1, v]))
    }
    /// Number of segments of all strands.
    pub fn segment_count(&self) -> usize {
        self.vertex_count() - self.len()
    }
    /// These strands followed by `others`.
    /// Guides of `others` are renumbered. O(strands).
    ///
    /// # Errors
    /// [`StrandsError::TooManyVertices`].
    pub(crate) fn joined(&self, others: &Self) -> Result<Self, StrandsError> {
        let lengths = self.ranges().chain(others.ranges()).map(|r| r.len());
        let first = self.len() as u32;
        let behind = others.guides.iter().map(|g| g + first);
        let guides = self.guides.iter().copied().chain(behind).collect();
        Self::new(lengths)?.with_guides(guides)
    }
    /// Whether the strand is a guide.
    ///
    /// # Panics
    /// If there is no such strand.
    pub fn is_guide(&self, strand: usize) -> bool {
        self.guides[strand] as usize == strand
    }
    /// Indices of the guides.
    pub fn guide_strands(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|&s| self.is_guide(s))
    }
    /// Vertex count of the longest strand.
    pub fn longest(&self) -> usize {
        self.ranges().map(|r| r.len()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_of_different_lengths_lie_one_after_another() {
        let strands = Strands::new([3, 2, 4]).expect("valid");
        assert_eq!(strands.offsets(), [0, 3, 5, 9]);
        assert_eq!(strands.range(1), 3..5);
        assert_eq!((strands.len(), strands.vertex_count()), (3, 9));
        assert_eq!(strands.longest(), 4);
        let segments: Vec<_> = strands.segments().collect();
        assert_eq!(segments, [[0, 1], [1, 2], [3, 4], [5, 6], [6, 7], [7, 8]]);
        assert_eq!(strands.segment_count(), segments.len());
        let followed = strands.clone().with_guides(vec![0, 1, 2]).expect("valid");
        let two = followed.joined(&strands).expect("few");
        assert_eq!(two.guides(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(two.range(4), 12..14);
        assert_eq!(strands.guide_strands().count(), 3);
    }

    #[test]
    fn a_strand_of_one_vertex_is_refused() {
        let error = Strands::new([2, 1]).expect_err("one vertex");
        assert_eq!(
            error.to_string(),
            "strand 1 has 1 vertices, but needs at least 2"
        );
    }

    #[test]
    fn followers_need_a_guide_of_their_length() {
        let strands = || Strands::new([3, 3, 4]).expect("valid");
        let followed = strands().with_guides(vec![0, 0, 2]).expect("valid");
        assert!(followed.is_guide(0) && !followed.is_guide(1));
        assert_eq!(followed.guide_strands().collect::<Vec<_>>(), [0, 2]);
        for (guides, strand) in [(vec![0, 0, 0], 2), (vec![1, 0, 2], 0), (vec![0, 1, 9], 2)] {
            let error = strands().with_guides(guides).expect_err("bad guide");
            assert!(
                matches!(error, StrandsError::Guide { strand: found, .. } if found == strand),
                "{error}"
            );
        }
        let error = strands().with_guides(vec![0]).expect_err("one guide");
        assert_eq!(
            error.to_string(),
            "found 1 guides, expected 3, one for each strand"
        );
    }
}
