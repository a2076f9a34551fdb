//! What a field is asked to be, and why a request is refused.

/// How fine the grid is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// Edge of a cell, in units of the field's frame (metres where its scale is one).
    CellSize(f32),
    /// Cells along one axis of the mesh at setup, without padding. The cell keeps that size in all frames.
    Cells {
        /// How many.
        count: u32,
        /// Along which axis.
        along: Axis,
    },
}

/// An axis of the field's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axis {
    /// First.
    X,
    /// Second.
    Y,
    /// Third.
    Z,
    /// The one along which the mesh is longest at setup.
    #[default]
    Longest,
}

/// Where the grid is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldBox {
    /// Around the mesh of each frame, plus padding. It moves by whole cells, so that nodes of a mesh at rest stay.
    Tight,
    /// The same box in every frame, plus padding. Meshes that leave it are seen inside only.
    Fixed {
        /// Lowest corner, in the field's frame.
        low: [f32; 3],
        /// Highest corner.
        high: [f32; 3],
    },
}

/// What decides between inside and outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignMethod {
    /// The side of the nearest feature's pseudonormal (Baerentzen and Aanaes 2005): right for closed meshes
    /// that do not cut through themselves. Fast.
    #[default]
    Pseudonormals,
    /// Inside is where the generalised winding number exceeds a half (Jacobson et al. 2013), by clusters of
    /// triangles far away (Barill et al. 2018). For open, self-cutting and self-touching meshes.
    WindingNumber,
}

/// Numbers in bricks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// Single precision, 2 KiB a brick.
    #[default]
    Single,
    /// IEEE half precision, 1 KiB a brick: 11 bits, so 0.001 cells at 3 cells.
    Half,
}

/// What to build.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SdfSettings {
    /// How fine.
    pub resolution: Resolution,
    /// Where.
    pub field_box: FieldBox,
    /// Cells between the box and the edge of the grid, at least. A point outside the grid gets at least what the
    /// nearest point of the grid's surface has.
    pub padding_cells: f32,
    /// Within this many cells of the surface every distance is exact at the nodes; at least 1.
    pub band_cells: f32,
    /// Inside or outside.
    pub sign: SignMethod,
    /// Numbers in bricks.
    pub storage: Storage,
    /// Bricks to make room for, as a multiple of the bricks at setup; at least 1.
    pub spare_bricks: f32,
    /// The most bytes that the buffers may take.
    pub max_bytes: usize,
}

impl Default for SdfSettings {
    fn default() -> Self {
        Self {
            resolution: Resolution::Cells {
                count: 64,
                along: Axis::Longest,
            },
            field_box: FieldBox::Tight,
            padding_cells: 4.0,
            band_cells: 3.0,
            sign: SignMethod::Pseudonormals,
            storage: Storage::Single,
            spare_bricks: 2.0,
            max_bytes: 1 << 30,
        }
    }
}

/// Why a field cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SdfError {
    /// Nothing to measure distances to.
    #[error("the mesh has no triangles")]
    EmptyMesh,
    /// Another mesh than the topology's.
    #[error("found {found} positions, expected one for each of {expected} vertices")]
    PositionCount {
        /// Given.
        found: usize,
        /// Of the topology.
        expected: usize,
    },
    /// A position that is no number.
    #[error("position of vertex {vertex} is not finite")]
    NotFinite {
        /// Which.
        vertex: usize,
    },
    /// A setting outside its range.
    #[error("{name} is {found}, expected {range}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        found: f32,
        /// What is allowed.
        range: &'static str,
    },
    /// The axis whose length gives the cell size has none.
    #[error("the mesh has no extent along the axis that sets the cell size")]
    NoExtent,
    /// A box turned inside out.
    #[error("the fixed box has its low {low} above its high {high} on axis {axis}")]
    Box {
        /// 0, 1 or 2.
        axis: usize,
        /// Lower bound.
        low: f32,
        /// Upper bound.
        high: f32,
    },
    /// A grid that would not fit.
    #[error(
        "the grid needs {found} bytes, but {allowed} are allowed; use larger cells or raise `max_bytes`"
    )]
    TooLarge {
        /// Bytes needed.
        found: usize,
        /// Bytes allowed.
        allowed: usize,
    },
    /// Whoever follows setup wants no more.
    #[error(transparent)]
    Stopped(#[from] crate::Stopped),
}

impl SdfSettings {
    /// Ranges of the single settings; what depends on a mesh is checked where it is bound.
    ///
    /// # Errors
    /// [`SdfError::Setting`] or [`SdfError::Box`], the first found.
    pub fn check(&self) -> Result<(), SdfError> {
        if let Resolution::CellSize(cell) = self.resolution {
            // Smaller ones have no reciprocal.
            number("cell size", cell, 1e-30, "a finite number above 0")?;
        }
        if let Resolution::Cells { count: 0, .. } = self.resolution {
            number("cells along the axis", 0.0, 1.0, "at least 1")?;
        }
        number("padding_cells", self.padding_cells, 0.0, "at least 0")?;
        number("band_cells", self.band_cells, 1.0, "at least 1")?;
        number("spare_bricks", self.spare_bricks, 1.0, "at least 1")?;
        let FieldBox::Fixed { low, high } = self.field_box else {
            return Ok(());
        };
        for axis in 0..3 {
            let (low, high) = (low[axis], high[axis]);
            let good = low <= high && low.is_finite() && high.is_finite();
            good.then_some(())
                .ok_or(SdfError::Box { axis, low, high })?;
        }
        Ok(())
    }
}

fn number(name: &'static str, found: f32, least: f32, range: &'static str) -> Result<(), SdfError> {
    if found.is_finite() && found >= least {
        return Ok(());
    }
    Err(SdfError::Setting { name, found, range })
}
