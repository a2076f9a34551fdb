//! Settings of a field, and why they may be refused.

/// Size of the cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// Edge length of a cell, in units of the field's frame (metres if its scale is 1).
    CellSize(f32),
    /// Number of cells along one axis of the mesh in setup, without padding. The cell size stays the same in all frames.
    Cells {
        /// Number of cells, at least 1.
        count: u32,
        /// The axis.
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

/// Position of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldBox {
    /// Around the mesh of each frame, plus padding. It moves by whole cells, so that nodes of a mesh at rest stay.
    Tight,
    /// The same box in every frame, plus padding. Parts of the mesh outside of it are not seen.
    Fixed {
        /// Lowest corner, in the field's frame.
        low: [f32; 3],
        /// Highest corner.
        high: [f32; 3],
    },
}

/// How inside and outside are decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignMethod {
    /// By the pseudonormal of the nearest face, edge or vertex (Baerentzen and Aanaes 2005): for closed meshes that do not intersect
    /// themselves. Fast.
    #[default]
    Pseudonormals,
    /// Inside is where the generalised winding number is above 0.5 (Jacobson et al. 2013), with far triangles in clusters (Barill et al.
    /// 2018). For open, folded and self-intersecting meshes.
    WindingNumber,
}

/// Precision of the distances in bricks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// Single precision, 2 KiB a brick.
    #[default]
    Single,
    /// IEEE half precision, 1 KiB a brick: 11 bits, so 0.001 cells at 3 cells.
    Half,
}

/// Settings of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SdfSettings {
    /// Size of the cells.
    pub resolution: Resolution,
    /// Position of the grid.
    pub field_box: FieldBox,
    /// Fewest cells between the box and the edge of the grid, 0 or more.
    pub padding_cells: f32,
    /// Within this number of cells of the surface, all nodes have exact distances; at least 1.
    pub band_cells: f32,
    /// How inside and outside are decided.
    pub sign: SignMethod,
    /// Precision of the distances in bricks.
    pub storage: Storage,
    /// Memory for bricks, as a multiple of the number in setup; at least 1.
    pub spare_bricks: f32,
    /// Largest size of the buffers in bytes.
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
    /// The mesh has no triangles.
    #[error("the mesh has no triangles")]
    EmptyMesh,
    /// The number of positions is not the number of vertices.
    #[error("found {found} positions, expected one for each of {expected} vertices")]
    PositionCount {
        /// Given.
        found: usize,
        /// Of the topology.
        expected: usize,
    },
    /// A position is NaN or infinite.
    #[error("position of vertex {vertex} is not finite")]
    NotFinite {
        /// Which.
        vertex: usize,
    },
    /// A setting is out of range.
    #[error("{name} is {found}, expected {range}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        found: f32,
        /// What is allowed.
        range: &'static str,
    },
    /// The mesh has no extent along the axis that gives the cell size.
    #[error("the mesh has no extent along the axis that sets the cell size")]
    NoExtent,
    /// The low corner of a box is above its high corner.
    #[error("the fixed box has its low {low} above its high {high} on axis {axis}")]
    Box {
        /// 0, 1 or 2.
        axis: usize,
        /// Lower bound.
        low: f32,
        /// Upper bound.
        high: f32,
    },
    /// The grid needs more memory than allowed.
    #[error(
        "the grid needs {found} bytes, but {allowed} are allowed; use larger cells or raise `max_bytes`"
    )]
    TooLarge {
        /// Bytes needed.
        found: usize,
        /// Bytes allowed.
        allowed: usize,
    },
    /// The caller stopped setup.
    #[error(transparent)]
    Stopped(#[from] crate::Stopped),
}

impl SdfSettings {
    /// Checks the range of each setting. What depends on a mesh is checked by [`super::SdfBind::new`].
    ///
    /// # Errors
    /// [`SdfError::Setting`] or [`SdfError::Box`] for the first problem.
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
