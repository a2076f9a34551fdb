//! What nodes that simulate strands share: their ports, the strands they bind, and what roots follow.

use super::HairBind;
use crate::collide::ports::{PORTS, strands_output};
use crate::names::expected_joint;
use crate::{BindContext, MeshReads, NodeError, ParameterDesc, PortDesc, PortType};
use sinew_geom::{Affine, Attribute, Influences, Mesh, PackedAffine, Pose};

/// Ports before those of colliders.
pub(crate) const FIRST_COLLIDER: usize = 2;

/// Strands, the pose that they follow, colliders.
pub(crate) const INPUTS: [PortDesc; 10] = {
    let [a, b, c, d, e, f, g, h] = PORTS;
    let strands = PortDesc::input(
        "strands",
        PortType::Mesh,
        "Strands at rest: guides and followers.",
    )
    .reading(MeshReads::NOTHING);
    let pose = PortDesc::optional(
        "pose",
        PortType::Pose,
        "Pose of the rig that the roots follow.",
    );
    [strands.of_strands(), pose, a, b, c, d, e, f, g, h]
};

/// The strands that come out.
pub(crate) const OUTPUTS: [PortDesc; 1] = [strands_output(
    "The strands, with tangents from root to tip.",
)];

/// The joint that [`Roots`] follow in place of weights.
pub(crate) const JOINT: ParameterDesc = ParameterDesc::text(
    "joint",
    "Joint that all roots follow, instead of the joint weights of the strands.",
);

/// Binds the strands at port `strands`, pinned where their inverse masses say so.
pub(crate) fn bind_strands(context: &BindContext<'_>) -> Result<HairBind, NodeError> {
    let mesh = context.mesh("strands")?;
    let Some(strands) = mesh.topology.strands() else {
        return Err(NodeError::Input {
            port: "strands",
            message: "found a mesh of triangles, expected strands".into(),
        });
    };
    let masses = match mesh.attributes.get("inverse_mass") {
        Some(Attribute::Scalar(masses)) => Some(masses.as_slice()),
        _ => None,
    };
    let bind = HairBind::new(strands, &mesh.positions, masses);
    bind.map_err(|source| NodeError::Bind(Box::new(source)))
}

/// What roots follow.
#[derive(Debug)]
pub(crate) enum Roots {
    /// Nothing: they stay in the scene.
    Still,
    /// One joint.
    Joint(usize),
    /// The joints of each strand's root, and where that is at rest.
    Weights {
        joints: Influences,
        places: Vec<[f32; 3]>,
    },
}

/// How matrices of several joints become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blend {
    /// Their weighted sum.
    Sum,
    /// That, as large as they are in the mean.
    KeepSize,
}

impl Roots {
    /// What parameter [`JOINT`] and the strands' weights say.
    pub(crate) fn bind(context: &BindContext<'_>) -> Result<Self, NodeError> {
        roots(context, context.mesh("strands")?)
    }

    /// Whether two strands follow the same joints alike.
    pub(crate) fn are_alike(&self, a: usize, b: usize) -> bool {
        match self {
            Self::Still | Self::Joint(_) => true,
            Self::Weights { joints, .. } => joints.row(a).eq(joints.row(b)),
        }
    }

    /// The skin's transform at each strand's root.
    pub(crate) fn write_transforms(
        &self,
        pose: Option<&Pose>,
        blend: Blend,
        out: &mut [PackedAffine],
    ) {
        let palette = pose.map(|p| p.palette.as_slice()).unwrap_or_default();
        let of = |joint: usize| palette.get(joint).copied().unwrap_or_default();
        match self {
            Self::Still => out.fill(Affine::<f32>::identity().into()),
            Self::Joint(joint) => out.fill(of(*joint)),
            Self::Weights { joints, places } => {
                for (strand, (out, place)) in out.iter_mut().zip(places).enumerate() {
                    let (sum, size) = blended(joints.row(strand), &of);
                    *out = match blend {
                        Blend::Sum => sum,
                        Blend::KeepSize => resized(sum, size, *place),
                    };
                }
            }
        }
    }
}

/// Weighted sum of joint matrices, and of their sizes; weights add up to one.
fn blended(
    row: impl Iterator<Item = (u32, f32)>,
    matrix: &impl Fn(usize) -> PackedAffine,
) -> (PackedAffine, f32) {
    let mut rows = [[0.0_f32; 4]; 3];
    let mut size = 0.0;
    for (joint, weight) in row {
        let matrix = matrix(joint as usize);
        size += weight * size_of_linear(&matrix.rows);
        let from = matrix.rows.as_flattened();
        for (sum, value) in rows.as_flattened_mut().iter_mut().zip(from) {
            *sum = weight.mul_add(*value, *sum);
        }
    }
    (PackedAffine { rows }, size)
}

/// Matrices that turn against each other shrink in their sum: it gets the mean of their sizes back, so that hair grows and shrinks with
/// its joints and with nothing else. What is at `place` at rest goes where the sum takes it.
fn resized(PackedAffine { mut rows }: PackedAffine, size: f32, place: [f32; 3]) -> PackedAffine {
    let factor = size / size_of_linear(&rows);
    if factor.is_finite() {
        for row in &mut rows {
            let [x, y, z, _] = row;
            let before = *x * place[0] + *y * place[1] + *z * place[2];
            row[..3].iter_mut().for_each(|v| *v *= factor);
            row[3] += before * (1.0 - factor);
        }
    }
    PackedAffine { rows }
}

/// Cube root of how much the linear part of a matrix enlarges volumes.
fn size_of_linear([a, b, c]: &[[f32; 4]; 3]) -> f32 {
    let minor = |i: usize, j: usize| b[i] * c[j] - b[j] * c[i];
    (a[0] * minor(1, 2) + a[1] * minor(2, 0) + a[2] * minor(0, 1))
        .abs()
        .cbrt()
}

fn roots(context: &BindContext<'_>, mesh: &Mesh) -> Result<Roots, NodeError> {
    let name = context.parameters.text(JOINT.name);
    if !name.is_empty() {
        let rig = context.rig("pose")?;
        let joints = || (0..rig.joints().len()).map(|j| rig.joint_name(j));
        let found = rig.find_joint(name).ok_or_else(|| NodeError::Parameter {
            name: JOINT.name,
            found: format!("'{name}'"),
            expected: expected_joint(name, joints()),
        });
        return found.map(Roots::Joint);
    }
    let (Some(influences), true) = (&mesh.influences, context.is_linked("pose")) else {
        if context.is_linked("pose") {
            context.warn("the strands have no joint weights and do not move with the rig; to bind them to a joint, set `joint`");
        }
        return Ok(Roots::Still);
    };
    let rig = context.rig("pose")?;
    let strands = mesh.topology.strands().into_iter();
    let roots: Vec<usize> = strands.flat_map(|s| s.ranges()).map(|r| r.start).collect();
    let places = roots.iter().map(|&v| mesh.positions[v]).collect();
    let of_roots = influences.gathered(roots);
    match of_roots
        .joints()
        .iter()
        .find(|j| **j as usize >= rig.joints().len())
    {
        None => Ok(Roots::Weights {
            joints: of_roots,
            places,
        }),
        Some(joint) => Err(NodeError::Input {
            port: "strands",
            message: format!(
                "a strand follows joint {joint}, but the rig at `pose` has {} joints; for strands of another file, add `\"joints\": \"pose\"` to their input",
                rig.joints().len()
            ),
        }),
    }
}
