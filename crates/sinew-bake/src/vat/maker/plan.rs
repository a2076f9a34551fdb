//! What is known before the first texel is written: a pure function of what was seen of the frames.

use crate::vat::maker::carrier::FEWEST_TRIANGLES;
use crate::vat::maker::points::PointsError;
use crate::vat::maker::remesh::{FrameError, FrameScan, join_extents};
use serde::{Deserialize, Serialize};
use sinew_geom::{Bounds, index32};
use sinew_vat::layout::{Layout, LayoutError};
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::{Extent, TextureSpec};

/// What is wanted of a bake whose triangles change from frame to frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RemeshSettings {
    /// Textures: what each holds and how.
    pub textures: Vec<(Quantity, TexelFormat)>,
    /// Largest side of a texture, texels. WebGL 2 promises 2048, WebGPU 8192, desktops have 16384.
    pub largest_side: u32,
    /// Whether sides are made powers of two.
    pub powers_of_two: bool,
    /// Whether each frame has its end behind it ([`crate::vat::maker::ends`]).
    pub has_ends: bool,
}

impl Default for RemeshSettings {
    /// Positions in 16 bits, normals in 8; sides up to 4096.
    fn default() -> Self {
        Self {
            textures: vec![
                (Quantity::Position, TexelFormat::Unorm16),
                (Quantity::Normal, TexelFormat::Unorm8),
            ],
            largest_side: 4096,
            powers_of_two: false,
            has_ends: false,
        }
    }
}

/// Sizes, ranges and places of a bake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RemeshPlan {
    /// Triangles of the carrier: as many as the fullest frame has, and [`FEWEST_TRIANGLES`] at least.
    pub slots: u32,
    /// Box of the whole sequence, metres.
    pub bounds: Bounds,
    /// Where texels are; the vertices of a slot are `3 * slot + corner`.
    pub layout: Layout,
    /// The textures, all of that layout.
    pub textures: Vec<TextureSpec>,
    /// Share of the slots that show nothing, over all frames.
    pub empty_slots: f64,
}

/// Why a sequence cannot be baked as wanted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A frame does not fit the others.
    #[error("frame {index}: {0}", index = .0.frame())]
    Frame(#[from] FrameError),
    /// Unique points do not fit.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// No texture is large enough.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// No frame shows a triangle.
    #[error("none of the {frames} frames has a triangle")]
    Nothing {
        /// Number of frames.
        frames: usize,
    },
    /// No frame has a point.
    #[error("none of the {frames} frames has a point")]
    NoPoints {
        /// Number of frames.
        frames: usize,
    },
    /// Positions are not among the textures.
    #[error("no texture holds positions; without them there is nothing to show")]
    NoPositions,
    /// More triangles than vertices can be numbered.
    #[error("frame {frame} has {found} triangles; {allowed} are allowed")]
    TooManyTriangles {
        /// Index of the frame.
        frame: usize,
        /// Its triangles.
        found: u32,
        /// What three corners each leave of 32 bits.
        allowed: u32,
    },
}

impl RemeshPlan {
    /// From what was seen of all frames, in their order; each scan is of the quantities of `settings`, in that order.
    ///
    /// # Errors
    /// [`PlanError`].
    #[cfg(test)]
    pub(crate) fn new(scans: &[FrameScan], settings: &RemeshSettings) -> Result<Self, PlanError> {
        Self::with_slots(scans, 0, settings)
    }

    /// The same with `slots` triangles at least: what [`crate::vat::maker::matching::SlotChain`] came to.
    ///
    /// # Errors
    /// [`PlanError`].
    pub(crate) fn with_slots(
        scans: &[FrameScan],
        slots: u32,
        settings: &RemeshSettings,
    ) -> Result<Self, PlanError> {
        const ALLOWED: u32 = u32::MAX / 3;
        let positions = settings
            .textures
            .iter()
            .position(|t| t.0 == Quantity::Position)
            .ok_or(PlanError::NoPositions)?;
        for (frame, scan) in scans.iter().enumerate() {
            if scan.triangles > ALLOWED {
                return Err(PlanError::TooManyTriangles {
                    frame,
                    found: scan.triangles,
                    allowed: ALLOWED,
                });
            }
        }
        let quantities: Vec<_> = settings.textures.iter().map(|t| t.0.clone()).collect();
        let frames = scans.len();
        let extents = join_extents(scans, &quantities)?.ok_or(PlanError::Nothing { frames })?;
        let fullest = scans.iter().map(|s| s.triangles).max().unwrap_or(0);
        let slots = fullest.max(slots).max(FEWEST_TRIANGLES);
        let layout = layout_for(slots, frames, settings)?;
        let textures = settings.textures.iter().zip(&extents);
        let used: u64 = scans.iter().map(|s| u64::from(s.triangles)).sum();
        Ok(Self {
            slots,
            bounds: box_of(&extents[positions]),
            layout,
            textures: textures
                .map(|((quantity, format), e)| TextureSpec::new(quantity.clone(), *format, e))
                .collect(),
            empty_slots: 1.0 - used as f64 / (u64::from(slots) * frames as u64) as f64,
        })
    }
}

fn layout_for(slots: u32, frames: usize, settings: &RemeshSettings) -> Result<Layout, LayoutError> {
    let limit = settings.largest_side;
    let frames = index32(frames);
    let frames = frames.saturating_mul(if settings.has_ends { 2 } else { 1 });
    let layout = Layout::fitting(slots * 3, frames, 3, limit)?;
    match settings.powers_of_two {
        true => layout.padded_to_powers_of_two(limit),
        false => Ok(layout),
    }
}

fn box_of(positions: &Extent) -> Bounds {
    let at = |values: &[f32]| std::array::from_fn(|k| values.get(k).copied().unwrap_or(0.0));
    (at(&positions.least), at(&positions.most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(triangles: u32, low: f32, high: f32) -> FrameScan {
        let extent = |least: f32, most: f32| Extent::between(least, most, 3);
        FrameScan {
            triangles,
            extents: (triangles > 0).then(|| vec![extent(low, high), extent(-1.0, 1.0)]),
        }
    }

    #[test]
    fn the_published_example_has_its_size() {
        let scans: Vec<_> = (0..300).map(|f| seen(1130 - f % 7, -1.0, 2.0)).collect();
        let plan = RemeshPlan::new(&scans, &RemeshSettings::default()).expect("fits");
        assert_eq!(plan.layout.size, [3390, 300]);
        assert_eq!(plan.bounds, ([-1.0; 3], [2.0; 3]));
        // 6 bytes of position and 3 of normal for each corner.
        let of_vertex: usize = plan.textures.iter().map(TextureSpec::vertex_bytes).sum();
        assert_eq!(of_vertex, 9);
        assert!(plan.empty_slots > 0.0 && plan.empty_slots < 0.01);
        let with_ends = RemeshSettings {
            has_ends: true,
            ..RemeshSettings::default()
        };
        let plan = RemeshPlan::new(&scans, &with_ends).expect("fits");
        assert_eq!(plan.layout.size, [3390, 600]);
    }

    #[test]
    fn empty_frames_are_legal_and_change_no_range() {
        let scans = [seen(0, 0.0, 0.0), seen(4, 5.0, 6.0), seen(0, 0.0, 0.0)];
        let plan = RemeshPlan::new(&scans, &RemeshSettings::default()).expect("fits");
        assert_eq!((plan.slots, plan.bounds.0), (FEWEST_TRIANGLES, [5.0; 3]));
        let nothing = RemeshPlan::new(&scans[..1], &RemeshSettings::default());
        assert_eq!(nothing, Err(PlanError::Nothing { frames: 1 }));
        let none = RemeshPlan::new(&[], &RemeshSettings::default());
        assert_eq!(none, Err(PlanError::Nothing { frames: 0 }));
    }

    #[test]
    fn wide_frames_become_blocks_and_too_many_are_refused() {
        let scans: Vec<_> = (0..60).map(|_| seen(9948, 0.0, 1.0)).collect();
        let settings = RemeshSettings {
            powers_of_two: true,
            ..RemeshSettings::default()
        };
        let plan = RemeshPlan::new(&scans, &settings).expect("fits");
        assert!(
            plan.layout
                .size
                .iter()
                .all(|s| s.is_power_of_two() && *s <= 4096)
        );
        let many: Vec<_> = (0..6000).map(|_| seen(9948, 0.0, 1.0)).collect();
        assert!(matches!(
            RemeshPlan::new(&many, &settings),
            Err(PlanError::Layout(_))
        ));
        let huge = [seen(u32::MAX, 0.0, 1.0)];
        let error = RemeshPlan::new(&huge, &settings).expect_err("too many");
        assert!(
            error.to_string().contains("1431655765 are allowed"),
            "{error}"
        );
        let blind = RemeshSettings {
            textures: vec![(Quantity::Normal, TexelFormat::Unorm8)],
            ..settings
        };
        assert_eq!(RemeshPlan::new(&scans, &blind), Err(PlanError::NoPositions));
    }
}
