//! Conversion between Maya's matrices and Sinew's.

use sinew_geom::{Affine, Mat3, Vec3};

/// A matrix as in Maya: row-major, for row vectors (`p * M`). The rows of its upper left 3x3 part are the transformed
/// axes. Elements 12, 13 and 14 are the translation, in the scene unit (centimetres by default).
///
/// In memory, this equals a column-major matrix for column vectors, which [`Affine::from_columns`] reads. Only the unit
/// differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MayaMatrix(pub [f64; 16]);

/// Up axis of the source scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpAxis {
    /// Y up, as in Sinew: no rotation.
    #[default]
    Y,
    /// Z up. Every matrix `M` becomes `B * M * B^-1`. `B` is the rotation by -90 degrees about x, which maps `(x, y,
    /// z)` to `(x, z, -y)`.
    Z,
}

/// Conversion of scene matrices to Sinew's.
///
/// [`UpAxis::Z`] changes the basis of *every* matrix, including local ones. It is correct if each joint frame of the
/// character was rotated in the same way. If only the skeleton root was rotated (as most exporters do), local matrices
/// of its descendants do not change: use [`UpAxis::Y`].
///
/// Angles, joint orients and twist axes of the document never change. After a change of basis, their y axis is Sinew's
/// -z axis and their z axis is Sinew's y axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MayaScene {
    /// Metres per scene unit, positive: 0.01 for centimetres.
    pub unit_metres: f64,
    /// Up axis of the scene.
    pub up: UpAxis,
}

impl Default for MayaScene {
    /// Centimetres, Y up.
    fn default() -> Self {
        Self {
            unit_metres: 0.01,
            up: UpAxis::Y,
        }
    }
}

impl Default for MayaMatrix {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// Elements 3, 7, 11 and 15 of an affine transform.
const LAST_COLUMN: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

impl MayaMatrix {
    /// The identity matrix.
    pub const IDENTITY: Self = Self([
        1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0,
    ]);

    /// The four rows.
    pub fn rows(&self) -> [[f64; 4]; 4] {
        let (rows, _) = self.0.as_chunks::<4>();
        std::array::from_fn(|r| rows.get(r).copied().unwrap_or_default())
    }

    /// A matrix from four rows.
    pub fn from_rows(rows: [[f64; 4]; 4]) -> Self {
        Self(std::array::from_fn(|i| rows[i / 4][i % 4]))
    }

    /// True if the fourth column is that of an affine transform, within 1e-6. A translation there indicates a matrix
    /// for column vectors.
    pub fn is_affine(&self) -> bool {
        let rows = self.rows();
        let mut last = rows.iter().zip(LAST_COLUMN);
        last.all(|(row, wanted)| (row[3] - wanted).abs() <= 1e-6)
    }

    /// The transform in metres, Y up, for column vectors. Ignores the fourth column.
    pub fn to_affine(&self, scene: &MayaScene) -> Affine<f64> {
        let mut affine = Affine::from_columns(&self.0);
        affine.translation *= scene.unit_metres;
        scene.up.turned(affine, to_y_up)
    }

    /// The matrix of a transform in metres, Y up, for column vectors.
    pub fn from_affine(affine: &Affine<f64>, scene: &MayaScene) -> Self {
        let affine = scene.up.turned(*affine, to_z_up);
        let translation = affine.translation / scene.unit_metres;
        Self(std::array::from_fn(|i| match (i / 4, i % 4) {
            (row, 3) => LAST_COLUMN[row],
            (3, column) => translation[column],
            (row, column) => affine.linear[(column, row)],
        }))
    }
}

impl UpAxis {
    fn turned(self, affine: Affine<f64>, turn: fn(Vec3<f64>) -> Vec3<f64>) -> Affine<f64> {
        if self == Self::Y {
            return affine;
        }
        // B M B^-1: rotates the columns, then the rows, which are the columns of the transpose. Only signs and
        // positions change; no number is rounded.
        let columns =
            |m: &Mat3<f64>| Mat3::from_columns(&[0, 1, 2].map(|c| turn(m.column(c).into_owned())));
        Affine {
            linear: columns(&columns(&affine.linear).transpose()).transpose(),
            translation: turn(affine.translation),
        }
    }
}

fn to_y_up(v: Vec3<f64>) -> Vec3<f64> {
    Vec3::new(v.x, v.z, -v.y)
}

fn to_z_up(v: Vec3<f64>) -> Vec3<f64> {
    Vec3::new(v.x, -v.z, v.y)
}
