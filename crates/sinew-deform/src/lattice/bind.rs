//! Setup of the lattice: which rule each axis follows, checked once.
//!
//! A rule ([`AxisRule`]) is a basis, a linear map from the box's unit interval to the basis's own parameter, the range in which the formula
//! of the basis holds, and whether it continues linearly beyond. All settings of interpolation, border and outside reduce to that, so that
//! kernels know rules only.
//!
//! [`Outside::Natural`] differs by basis: linear, cardinal and cubic splines with a clamped border keep their formula for three more cells,
//! after which all four control points are the border point. Eased lattices get a ring of additional points that never move, so that the
//! displacement ends one cell outside. All others continue linearly.

use super::basis::{AxisKind, AxisRule};
use super::cage_mesh::CageMesh;
use crate::{BindContext, NodeError};
use sinew_geom::{Affine, Vec3};

/// Most control points along one axis: what the kernels' stack scratch holds.
pub(crate) const MAX_POINTS: usize = 256;

/// How displacements are interpolated between control points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Bernstein polynomials of degree `points - 1` (Sederberg and Parry 1986).
    Bernstein,
    /// Uniform B-splines of degree `influence - 1`.
    LocalBspline,
    /// Trilinear.
    Linear,
    /// Cardinal spline of tension 0.71.
    Cardinal,
    /// Cardinal spline of tension 0.5.
    CatmullRom,
    /// Uniform cubic B-spline.
    Bspline,
    /// Trilinear, with smoothstep easing on the two axes across the displaced one.
    CellEased,
}

/// Control points beyond the border rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// The border point again.
    Clamp,
    /// The line through the two outermost points, continued.
    Extrapolate,
}

/// What happens to vertices outside the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// They stay where they are.
    None,
    /// They move like the nearest point of the box.
    Clamp,
    /// They move as with `Extrapolate`, fading to nothing within a distance.
    Falloff,
    /// The basis of each axis continues linearly.
    Extrapolate,
    /// The formula of the interpolation continues where the border is clamped, and for eased lattices; elsewhere as `Extrapolate`.
    Natural,
}

/// Position of the box relative to the origin of its transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxOrigin {
    /// From `-size / 2` to `size / 2`.
    Center,
    /// From 0 to `size`.
    Corner,
}

/// Settings that do not change from frame to frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatticeConfig {
    /// Interpolation between control points.
    pub interpolation: Interpolation,
    /// Control points along each axis, 0 to 256. With 0 on any axis, the lattice does nothing.
    pub resolution: [i64; 3],
    /// For [`Interpolation::LocalBspline`]: control points per axis that act on a vertex, 2 to 30, reduced to the number of points on the
    /// axis.
    pub influence: [i64; 3],
    /// Control points beyond the border rows; Bernstein and eased lattices need none.
    pub border: Border,
    /// Rule outside the box.
    pub outside: Outside,
    /// Edge lengths of the box before its transform, metres, each above zero.
    pub size: [f64; 3],
    /// Position of the box in the space of its transform.
    pub origin: BoxOrigin,
    /// Whether control points are in scene space. Otherwise they are in the space of the box transform.
    pub points_in_world: bool,
    /// Whether control points are displacements. Otherwise they are positions.
    pub points_are_offsets: bool,
}

impl Default for LatticeConfig {
    fn default() -> Self {
        Self {
            interpolation: Interpolation::Bernstein,
            resolution: [4; 3],
            influence: [2; 3],
            border: Border::Extrapolate,
            outside: Outside::Falloff,
            size: [1.0; 3],
            origin: BoxOrigin::Center,
            points_in_world: false,
            points_are_offsets: false,
        }
    }
}

/// Why a lattice could not be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LatticeBindError {
    /// The resolution is out of range.
    #[error(
        "the resolution is {found:?}, expected 0 to {MAX_POINTS} control points per axis (0 turns the lattice off)"
    )]
    Resolution {
        /// What was given.
        found: [i64; 3],
    },
    /// The influence is out of range.
    #[error("the influence is {found:?}, expected 2 to 30 control points per axis")]
    Influence {
        /// What was given.
        found: [i64; 3],
    },
    /// A box without volume.
    #[error("the size of the box is {found:?} m, expected finite numbers above 0")]
    Size {
        /// What was given.
        found: [f64; 3],
    },
    /// The box transform has no inverse.
    #[error(
        "rest_transform flattens the box: the determinant of its linear part is {determinant}, expected a finite number other than 0"
    )]
    SingularTransform {
        /// Determinant of the linear part.
        determinant: f64,
    },
    /// The number of control points does not fit the resolution.
    #[error(
        "found {found} control points, expected {expected} for resolution {resolution:?} (or none for the lattice at rest)"
    )]
    PointCount {
        /// What was given.
        found: usize,
        /// Product of the resolution.
        expected: usize,
        /// Control points along each axis.
        resolution: [usize; 3],
    },
    /// A vertex of the cage is at no control point.
    #[error(
        "vertex {vertex} of the cage, at {position:?} m, is {cells:.3} cells along {axis} from the first control point, expected a whole \
         number for resolution {resolution:?}; move it onto the regular grid, or correct 'resolution' or the axes of 'rest_transform'"
    )]
    CageVertex {
        /// The vertex.
        vertex: usize,
        /// Where it is at rest, metres.
        position: [f32; 3],
        /// Axis of the box along which it does not fit.
        axis: char,
        /// Its position along this axis in cells; relative to the middle where the axis has one point.
        cells: f64,
        /// Control points along each axis.
        resolution: [usize; 3],
    },
    /// An outer control point without a vertex.
    #[error(
        "control point {index:?}, at {position:?} m, has no vertex in the cage; add one, or correct 'resolution'"
    )]
    CagePoint {
        /// Its index along each axis.
        index: [usize; 3],
        /// Where it is at rest, metres.
        position: [f32; 3],
    },
    /// Two sources of control points.
    #[error(
        "found {found} control points in 'points', but the input 'cage' moves them; remove one of the two"
    )]
    PointsAndCage {
        /// Number of points.
        found: usize,
    },
    /// A control point is NaN or infinite.
    #[error("control point {index} is {point:?}, expected finite coordinates")]
    PointNotFinite {
        /// Its place in the list.
        index: usize,
        /// Its value.
        point: [f64; 3],
    },
}

/// A lattice after setup. It belongs to no mesh, unless it is bound to rest positions.
#[derive(Clone, Debug)]
pub struct LatticeBind {
    pub(super) config: LatticeConfig,
    /// Control points of the user's grid.
    pub(super) resolution: [usize; 3],
    /// One rule an axis; their point counts include the ring of unmoved points where there is one.
    pub(super) rules: [AxisRule; 3],
    /// Parameters of each vertex at rest, where the lattice is bound to the rest mesh.
    pub(super) rest_stu: Option<Vec<[f32; 3]>>,
    /// The mesh that moves the control points.
    pub(super) cage: Option<CageMesh>,
    /// Lower corner of the box around that mesh.
    pub(super) cage_corner: Option<Vec3<f64>>,
}

impl LatticeBind {
    /// Checks the configuration and derives the rule of each axis.
    ///
    /// # Errors
    /// [`LatticeBindError`]: resolution, influence or size out of range.
    pub fn new(config: LatticeConfig) -> Result<Self, LatticeBindError> {
        let fits = |n: i64| usize::try_from(n).ok().filter(|&n| n <= MAX_POINTS);
        let [Some(x), Some(y), Some(z)] = config.resolution.map(fits) else {
            return Err(LatticeBindError::Resolution {
                found: config.resolution,
            });
        };
        if config.influence.iter().any(|k| !(2..=30).contains(k)) {
            return Err(LatticeBindError::Influence {
                found: config.influence,
            });
        }
        if config.size.iter().any(|s| !s.is_finite() || *s <= 0.0) {
            return Err(LatticeBindError::Size { found: config.size });
        }
        let resolution = [x, y, z];
        let influence = config.influence.map(|k| usize::try_from(k).unwrap_or(2));
        Ok(Self {
            config,
            resolution,
            rules: [0, 1, 2].map(|a| AxisRule::new(&config, resolution[a], influence[a])),
            rest_stu: None,
            cage: None,
            cage_corner: None,
        })
    }

    /// Takes every vertex's lattice parameters from these positions (scene space) and not from the incoming ones.
    /// `box_transform` is the box's transform at that time.
    ///
    /// # Errors
    /// [`LatticeBindError::SingularTransform`].
    pub(crate) fn bind_to_rest(
        mut self,
        positions: &[[f32; 3]],
        box_transform: &Affine<f64>,
    ) -> Result<Self, LatticeBindError> {
        let unit_from_scene =
            self.unit_from_scene(box_transform)
                .ok_or(LatticeBindError::SingularTransform {
                    determinant: box_transform.linear.determinant(),
                })?;
        let unit_from_scene: Affine<f64> = unit_from_scene;
        self.rest_stu = Some(
            positions
                .iter()
                .map(|p| {
                    let s = unit_from_scene.point(Vec3::new(p[0], p[1], p[2]).map(f64::from));
                    sinew_geom::Real::array3(s)
                })
                .collect(),
        );
        Ok(self)
    }

    /// Checks the control points of a frame: none, or one for each grid point, all finite.
    ///
    /// # Errors
    /// [`LatticeBindError::PointCount`], [`LatticeBindError::PointNotFinite`], [`LatticeBindError::PointsAndCage`].
    pub fn check_points(&self, points: &[[f64; 3]]) -> Result<(), LatticeBindError> {
        if self.cage.is_some() && !points.is_empty() {
            let found = points.len();
            return Err(LatticeBindError::PointsAndCage { found });
        }
        if !points.is_empty() && points.len() != self.point_count() {
            return Err(LatticeBindError::PointCount {
                found: points.len(),
                expected: self.point_count(),
                resolution: self.resolution,
            });
        }
        match points.iter().position(|p| p.iter().any(|c| !c.is_finite())) {
            Some(index) => Err(LatticeBindError::PointNotFinite {
                index,
                point: points[index],
            }),
            None => Ok(()),
        }
    }

    /// Number of control points: the product of the resolution.
    pub fn point_count(&self) -> usize {
        self.resolution.iter().product()
    }

    /// Whether the lattice has no control points and moves nothing.
    pub fn is_identity(&self) -> bool {
        self.point_count() == 0
    }

    /// Edges of the grid: what the `cage` output draws.
    pub(crate) fn edge_count(&self) -> usize {
        let [x, y, z] = self.resolution;
        if self.is_identity() {
            return 0;
        }
        (x - 1) * y * z + x * (y - 1) * z + x * y * (z - 1)
    }

    /// Lower corner of the box in its transform's space.
    pub(super) fn low_corner(&self) -> Vec3<f64> {
        if let Some(corner) = self.cage_corner {
            return corner;
        }
        let size = Vec3::from(self.config.size);
        match self.config.origin {
            BoxOrigin::Center => size * -0.5,
            BoxOrigin::Corner => Vec3::zeros(),
        }
    }

    /// From the unit cube to the scene.
    pub(super) fn scene_from_unit(&self, box_transform: &Affine<f64>) -> Affine<f64> {
        let size = Vec3::from(self.config.size);
        Affine {
            linear: box_transform.linear * sinew_geom::Mat3::from_diagonal(&size),
            translation: box_transform.point(self.low_corner()),
        }
    }

    /// From the scene to the unit cube; `None` where the box is flat.
    pub(super) fn unit_from_scene(&self, box_transform: &Affine<f64>) -> Option<Affine<f64>> {
        let inverse = self.scene_from_unit(box_transform).inverse()?;
        inverse.is_finite().then_some(inverse)
    }
}

impl AxisRule {
    fn new(config: &LatticeConfig, points: usize, influence: usize) -> Self {
        let intervals = points.saturating_sub(1) as f64;
        let local = |kind| Self {
            kind,
            points,
            border: config.border,
            scale: intervals,
            offset: 0.0,
            low: 0.0,
            high: intervals,
            linear_outside: matches!(config.outside, Outside::Extrapolate | Outside::Falloff),
        };
        if points <= 1 {
            return local(AxisKind::One);
        }
        let natural = config.outside == Outside::Natural;
        // Where the border is extrapolated, or there is none, the natural continuation is the linear one.
        let as_lines = |rule: Self| Self {
            linear_outside: rule.linear_outside || natural,
            ..rule
        };
        let blender = |kind| match (natural, config.border) {
            // Three cells out all four taps have reached the border point.
            (true, Border::Clamp) => Self {
                low: -3.0,
                high: intervals + 3.0,
                ..local(kind)
            },
            _ => as_lines(local(kind)),
        };
        match config.interpolation {
            Interpolation::Bernstein => as_lines(Self {
                scale: 1.0,
                high: 1.0,
                ..local(AxisKind::Bernstein)
            }),
            Interpolation::LocalBspline => {
                as_lines(local(AxisKind::Bspline(influence.min(points))))
            }
            Interpolation::Linear => blender(AxisKind::Bspline(2)),
            Interpolation::Cardinal => blender(AxisKind::Cardinal(0.71)),
            Interpolation::CatmullRom => blender(AxisKind::Cardinal(0.5)),
            Interpolation::Bspline => blender(AxisKind::Bspline(4)),
            // A ring of points that never move stands for the rest positions beyond the grid.
            Interpolation::CellEased if natural => Self {
                points: points + 2,
                offset: 1.0,
                high: intervals + 2.0,
                ..local(AxisKind::Eased)
            },
            Interpolation::CellEased => local(AxisKind::Eased),
        }
    }
}

/// Reads and checks the node's parameters.
pub(super) fn bind_node(context: &BindContext<'_>) -> Result<LatticeBind, NodeError> {
    let mesh = context.mesh("mesh")?;
    let cage = match context.is_linked("cage") {
        true => Some(context.mesh("cage")?),
        false => None,
    };
    let p = &context.parameters;
    let config = LatticeConfig {
        interpolation: match p.text("interpolation") {
            "local_bspline" => Interpolation::LocalBspline,
            "linear" => Interpolation::Linear,
            "cardinal" => Interpolation::Cardinal,
            "catmull_rom" => Interpolation::CatmullRom,
            "bspline" => Interpolation::Bspline,
            "cell_eased" => Interpolation::CellEased,
            _ => Interpolation::Bernstein,
        },
        resolution: p.int3("resolution"),
        influence: p.int3("influence"),
        border: match p.text("border") {
            "clamp" => Border::Clamp,
            _ => Border::Extrapolate,
        },
        outside: match p.text("outside") {
            "none" => Outside::None,
            "clamp" => Outside::Clamp,
            "extrapolate" => Outside::Extrapolate,
            "natural" => Outside::Natural,
            _ => Outside::Falloff,
        },
        size: p.vec3("size"),
        origin: match p.text("origin") {
            "corner" => BoxOrigin::Corner,
            _ => BoxOrigin::Center,
        },
        points_in_world: p.text("points_space") == "world",
        points_are_offsets: p.text("points_are") == "offsets",
    };
    let build = || {
        let mut bind = LatticeBind::new(config)?;
        let transform = p.transform("rest_transform");
        if let Some(cage) = cage.filter(|_| !bind.is_identity()) {
            let in_scene = config.points_in_world;
            bind = bind.follow_cage(&cage.positions, &transform, in_scene)?;
        }
        bind.check_points(p.points("points"))?;
        if bind.unit_from_scene(&transform).is_none() {
            return Err(LatticeBindError::SingularTransform {
                determinant: transform.linear.determinant(),
            });
        }
        match p.text("bind_to") {
            "rest" => bind.bind_to_rest(&mesh.positions, &transform),
            _ => Ok(bind),
        }
    };
    build().map_err(|e| NodeError::Bind(Box::new(e)))
}
