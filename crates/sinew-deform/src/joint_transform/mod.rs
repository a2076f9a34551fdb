//! Node `joint_transform`: what a joint does, as numbers.

#[cfg(test)]
mod tests;

use crate::pose_driver::{
    AXIS, DriverValue, Joints, ORDERS, Space, SwingTwist, choice, find_node, order, rest_of,
};
use crate::{
    BindContext, BoundNode, Choice, Example, NodeDesc, NodeDocs, NodeError, NodeKind, Outputs,
    ParameterDesc, PortDesc, PortType, UpdateContext,
};
use sinew_geom::{Affine, EulerOrder, Pose, Vec3};

const SPACES: &[Choice] = &[
    choice(
        "rest",
        "Relative to the rest transform of the joint, in its own axes: all is 0 at rest.",
    ),
    choice("parent", "Relative to the parent joint."),
    choice("joint", "Relative to the joint named in `reference`."),
    choice("scene", "Relative to the origin of the scene."),
];

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "joint_transform",
    kind: NodeKind::Driver,
    summary: "Gives rotation, twist, swing, position, distance and direction of a joint as numbers.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "joint_transform",
            graph: include_str!("joint_transform.json"),
            sample: "arm",
            before: "linear",
            frame: 54,
        }]),
    rows: &[],
    inputs: &[PortDesc::input(
        "pose",
        PortType::Pose,
        "Pose of the rig that has the joints.",
    )],
    outputs: &[
        PortDesc::output(
            "rotation",
            PortType::Values,
            "Three Euler angles about x, y and z, in radians.",
        ),
        PortDesc::output(
            "translation",
            PortType::Values,
            "Position x, y and z, in metres.",
        ),
        PortDesc::output(
            "angle",
            PortType::Values,
            "Angle of the whole rotation, 0 to π radians.",
        ),
        PortDesc::output(
            "twist",
            PortType::Values,
            "Angle of the rotation about `axis`, above −π and up to π radians.",
        ),
        PortDesc::output(
            "swing",
            PortType::Values,
            "Angle of the rotation without its twist, 0 to π radians.",
        ),
        PortDesc::output(
            "distance",
            PortType::Values,
            "Metres from the joint to `target`.",
        ),
        PortDesc::output(
            "stretch",
            PortType::Values,
            "That distance divided by the one at rest; 1 where that is 0.",
        ),
        PortDesc::output(
            "aim",
            PortType::Values,
            "Unit vector from the joint to `target`, in the axes of the joint as they are now; 0 if both are at one place.",
        ),
    ],
    parameters: &[
        ParameterDesc::text(
            "joint",
            "Name of the joint. Empty takes the first node of the rig.",
        ),
        ParameterDesc::choice(
            "space",
            "rest",
            SPACES,
            "What `rotation`, `translation`, `angle`, `twist` and `swing` are relative to.",
        ),
        ParameterDesc::text(
            "reference",
            "For space `joint`: name of the reference joint.",
        ),
        ParameterDesc::text(
            "target",
            "Name of the joint that `distance`, `stretch` and `aim` go to. Empty takes the parent of the joint.",
        ),
        ParameterDesc {
            doc: "Axis of twist and swing, in the joint's own space.",
            ..AXIS
        },
        ParameterDesc::choice(
            "rotation_order",
            "xyz",
            ORDERS,
            "Order of the rotations of the Euler angles.",
        ),
    ],
    bind: bind_node,
    restore: None,
};

/// What a joint does in a pose; see the outputs of [`DESC`].
#[derive(Clone, Copy, Debug, Default)]
struct Measures {
    rotation: [f64; 3],
    translation: [f64; 3],
    angle: f64,
    twist: f64,
    swing: f64,
    distance: f64,
    stretch: f64,
    aim: [f64; 3],
}

#[derive(Debug)]
struct BoundJointTransform {
    /// The joint alone; `None` in a rig without nodes, where all is 0.
    joint: Option<Joints>,
    /// The index of a node; `None` is the origin of the scene.
    target: Option<usize>,
    axis: Vec3<f64>,
    order: EulerOrder,
    rest_distance: f64,
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let rig = context.rig("pose")?;
    let p = context.parameters;
    let axis = Vec3::from(p.vec3("axis"));
    let length = axis.norm();
    if !(length > 0.0 && length.is_finite()) {
        return Err(NodeError::Parameter {
            name: "axis",
            found: format!("{:?}", p.vec3("axis")),
            expected: "a direction: three numbers that are not all 0".into(),
        });
    }
    let node = match p.text("joint") {
        "" => (!rig.nodes().is_empty()).then_some(0),
        name => Some(find_node(rig, "joint", name)?),
    };
    let space = match (p.text("space"), node) {
        ("parent", _) => Space::Parent,
        ("joint", _) => Space::Node(find_node(rig, "reference", p.text("reference"))?),
        ("scene", _) => Space::Scene,
        (_, node) => Space::Rest(node.map(|n| rest_of(rig, n)).into_iter().collect()),
    };
    let joint = node.map(|node| Joints {
        nodes: vec![node],
        space,
    });
    let parent = || rig.nodes().get(node?)?.parent;
    let target = match p.text("target") {
        "" => parent(),
        name => Some(find_node(rig, "target", name)?),
    };
    let mut bound = BoundJointTransform {
        joint,
        target,
        axis: axis / length,
        order: order(p.text("rotation_order")),
        rest_distance: 0.0,
    };
    bound.rest_distance = bound.measure(&rig.rest_pose()).distance;
    Ok(Box::new(bound))
}

impl BoundJointTransform {
    fn measure(&self, pose: &Pose) -> Measures {
        let Some(joint) = &self.joint else {
            return Measures {
                stretch: 1.0,
                ..Measures::default()
            };
        };
        let value = joint.value(pose, 0);
        let parts = SwingTwist::of(&value.rotation, &self.axis);
        let scene = |node: usize| pose.scene_from_node.get(node).copied().unwrap_or_default();
        let here = joint
            .nodes
            .first()
            .map_or_else(Affine::default, |&n| scene(n));
        let there = self.target.map_or_else(Affine::default, scene);
        let way = there.translation - here.translation;
        let distance = way.norm();
        let local = DriverValue::from(&here).rotation.inverse() * way;
        Measures {
            rotation: self.order.angles(&value.rotation),
            translation: value.translation.into(),
            angle: value.rotation.angle(),
            twist: parts.twist_angle,
            swing: parts.swing.angle(),
            distance,
            stretch: if self.rest_distance > 0.0 {
                distance / self.rest_distance
            } else {
                1.0
            },
            aim: if distance > 0.0 {
                (local / distance).into()
            } else {
                [0.0; 3]
            },
        }
    }
}

fn write(outputs: &mut Outputs<'_>, port: &str, numbers: &[f64]) {
    for (to, from) in outputs.floats(port).into_iter().flatten().zip(numbers) {
        *to = *from as f32;
    }
}

impl BoundNode for BoundJointTransform {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn output_len(&self, port: &str) -> usize {
        match port {
            "rotation" | "translation" | "aim" => 3,
            _ => 1,
        }
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let Some(pose) = context.inputs.pose("pose") else {
            return;
        };
        let m = self.measure(pose);
        let out = &mut context.outputs;
        write(out, "rotation", &m.rotation);
        write(out, "translation", &m.translation);
        write(out, "angle", &[m.angle]);
        write(out, "twist", &[m.twist]);
        write(out, "swing", &[m.swing]);
        write(out, "distance", &[m.distance]);
        write(out, "stretch", &[m.stretch]);
        write(out, "aim", &m.aim);
    }
}
