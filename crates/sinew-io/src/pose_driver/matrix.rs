//! Maya's matrices and ours.

use sinew_geom::{Affine, Mat3, Vec3};

/// A matrix as Maya writes it: rows one after another, for row vectors (`p * M`), so that the rows of its upper left
/// 3x3 part are where the axes go and elements 12, 13 and 14 are the translation, in the unit of the scene (centimetres
/// by default).
///
/// In memory this is the same as columns one after another for column vectors, which is what [`Affine::from_columns`]
/// reads: only the unit has to be converted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MayaMatrix(pub [f64; 16]);

/// Which axis points up in the scene that matrices come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpAxis {
    /// Y, as here: nothing is turned.
    #[default]
    Y,
    /// Z. Every matrix `M` becomes `B * M * B^-1` with `B` the rotation by -90 degrees about x, which carries
    /// `(x, y, z)` to `(x, z, -y)`.
    Z,
}

/// How matrices of a scene become ours.
///
/// The conversion of [`UpAxis::Z`] is a change of basis of *every* matrix, local ones, too: it fits a character each of
/// whose joint frames was turned in the same way. Where only the root of the skeleton was turned (as most exporters do),
/// local matrices of the joints below stay as they are: take [`UpAxis::Y`] then. Angles, joint orients and
/// twist axes of the document are never changed: after a change of basis its y axis is our -z axis, and its z axis is our y
/// axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MayaScene {
    /// Metres in one unit of the scene, positive: 0.01 for centimetres.
    pub unit_metres: f64,
    /// Which axis points up.
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
    /// The matrix that changes nothing.
    pub const IDENTITY: Self = Self([
        1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0,
    ]);

    /// The four rows.
    pub fn rows(&self) -> [[f64; 4]; 4] {
        let (rows, _) = self.0.as_chunks::<4>();
        std::array::from_fn(|r| rows.get(r).copied().unwrap_or_default())
    }

    /// From four rows.
    pub fn from_rows(rows: [[f64; 4]; 4]) -> Self {
        Self(std::array::from_fn(|i| rows[i / 4][i % 4]))
    }

    /// Whether the fourth column is that of an affine transform, up to 1e-6. A translation there means a matrix for
    /// column vectors.
    pub fn is_affine(&self) -> bool {
        let rows = self.rows();
        let mut last = rows.iter().zip(LAST_COLUMN);
        last.all(|(row, wanted)| (row[3] - wanted).abs() <= 1e-6)
    }

    /// In metres, Y up, for column vectors. The fourth column is left out, whatever it holds.
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
        // B M B^-1: columns are turned, then rows, which are the columns of the transpose. Signs and places change, no
        // number is rounded.
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
