//! Writes solvers as nodes of a graph.

use super::{Losses, Solver};
use crate::deform::pose_driver::{DriverPose, Normalize, PoseDriver, RadialKernel, Width};
use crate::geom::{Affine, ORTHOGONAL_TOLERANCE};
use serde_json::{Map, Value, json};

/// A whole graph document: for each solver a `pose_driver`, a `drive_joints` for its helper joints, and a
/// `drive_morphs` for its morph targets; then `morph` and linear skinning. Weights without a target become an output
/// with the driver's name.
pub fn graph_text(solvers: &[Solver]) -> (String, Losses) {
    let mut losses = Losses::default();
    let mut nodes = Map::new();
    let mut outputs = Map::new();
    let (mut pose, mut morphs) = ("pose".to_owned(), None);
    for s in solvers {
        let driver = free_name(&nodes, &s.name, "");
        nodes.insert(driver.clone(), driver_node(s, &mut losses.of(&s.name)));
        if !s.driven_joints.is_empty() {
            let name = free_name(&nodes, &s.name, "_joints");
            nodes.insert(name.clone(), joints_node(s, &pose, &driver));
            pose = name;
        }
        let drives_morphs = s.morph_targets.iter().any(|t| !t.is_empty());
        if s.driven_joints.is_empty() && !drives_morphs {
            outputs.insert(driver.clone(), driver.as_str().into());
        }
        if drives_morphs {
            let name = free_name(&nodes, &s.name, "_morphs");
            nodes.insert(name.clone(), morphs_node(s, &driver, morphs.as_deref()));
            morphs = Some(name);
        }
    }
    let mut mesh = "body".to_owned();
    if let Some(weights) = morphs {
        mesh = free_name(&nodes, "morph", "");
        nodes.insert(
            mesh.clone(),
            json!({"node": "morph", "mesh": "body", "weights": weights}),
        );
    }
    let skin = free_name(&nodes, "skin", "");
    nodes.insert(
        skin.clone(),
        json!({"node": "skin", "mesh": mesh, "pose": pose, "method": "linear"}),
    );
    outputs.insert("body".into(), skin.into());
    let document = json!({
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
        "nodes": nodes,
        "outputs": outputs,
    });
    (format!("{document:#}\n"), losses)
}

/// An unused node name: letters, digits and underscores.
fn free_name(nodes: &Map<String, Value>, name: &str, ending: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let base: String = name.chars().map(plain).chain(ending.chars()).collect();
    let is_free = |name: &String| !name.is_empty() && !is_taken(nodes, name);
    if is_free(&base) {
        return base;
    }
    let numbered = (2_u64..).map(|n| format!("{base}_{n}"));
    numbered.into_iter().find(is_free).unwrap_or_default()
}

fn is_taken(nodes: &Map<String, Value>, name: &str) -> bool {
    matches!(name, "body" | "pose") || nodes.contains_key(name)
}

fn driver_node(s: &Solver, lost: &mut impl FnMut(String)) -> Value {
    let d = &s.driver;
    let mut node = json!({
        "node": "pose_driver", "pose": "pose",
        "joints": s.joints,
        "solver": d.solver.name(), "metric": d.metric.name(), "kernel": d.kernel.name(),
        "axis": [d.axis.x, d.axis.y, d.axis.z],
        "clamp": d.clamp.name(), "rules": d.rules.name(),
    });
    let mut set = |key: &str, value: Value| node[key] = value;
    if !s.relative_to_rest {
        set("space", "parent".into());
    }
    if let Some(order) = d.metric.order_name() {
        set("rotation_order", order.into());
    }
    if let RadialKernel::Curve(curve) = &d.kernel {
        set("curve", curve.points().as_flattened().into());
    }
    match d.width {
        Width::Given(width) => set("width", width.into()),
        Width::Automatic => {}
        Width::Nearest => set("automatic_width", "nearest".into()),
    }
    for (key, value) in [
        ("regularization", d.regularization),
        ("threshold", d.threshold),
    ] {
        if value != 0.0 {
            set(key, value.into());
        }
    }
    if d.swing_tolerance != PoseDriver::default().swing_tolerance {
        set("swing_tolerance", d.swing_tolerance.into());
    }
    normalize(d, &mut set);
    let poses = s.poses();
    let poses: Vec<Value> = poses
        .map(|(i, enabled)| {
            let transforms = s.driver_transforms.get(i).map_or(&[][..], Vec::as_slice);
            let order = d.metric.order_name();
            pose(&d.poses[i], order, transforms, enabled, lost)
        })
        .collect();
    node["poses"] = poses.into();
    node
}

fn normalize(d: &PoseDriver, set: &mut impl FnMut(&str, Value)) {
    let word = match &d.normalize {
        Normalize::None => "none",
        Normalize::AboveOne => "above_one",
        Normalize::Always => "always",
        Normalize::WithinMedian {
            reference,
            min,
            max,
        } => {
            let q = reference.rotation.coords;
            let t = reference.translation;
            set(
                "median",
                json!({"translation": [t.x, t.y, t.z], "rotation": [q.x, q.y, q.z, q.w]}),
            );
            set("median_min", (*min).into());
            set("median_max", (*max).into());
            "within_median"
        }
    };
    set("normalize", word.into());
}

fn pose(
    p: &DriverPose,
    order: Option<&str>,
    transforms: &[Affine<f64>],
    enabled: bool,
    lost: &mut impl FnMut(String),
) -> Value {
    let joints: Vec<Value> = transforms.iter().map(transform).collect();
    let mut out = json!({"name": p.name, "joints": joints});
    if p.scale != 1.0 {
        out["scale"] = p.scale.into();
    }
    if let Some(metric) = p.metric {
        out["metric"] = metric.name().into();
        // The node has one rotation order for all poses.
        if let Some(own) = metric.order_name().filter(|own| Some(*own) != order) {
            lost(format!(
                "pose '{}': its own Euler angle order {own}",
                p.name
            ));
        }
    }
    match &p.kernel {
        Some(RadialKernel::Curve(_)) => {
            lost(format!("pose '{}': its own kernel curve", p.name));
        }
        Some(kernel) => out["kernel"] = kernel.name().into(),
        None => {}
    }
    if let Some(curve) = &p.curve {
        out["curve"] = curve.points().as_flattened().into();
    }
    if !enabled {
        out["enabled"] = false.into();
    }
    out
}

/// Translation, rotation and scale if they define the transform, else the matrix.
fn transform(a: &Affine<f64>) -> Value {
    let Ok(parts) = a.decompose(ORTHOGONAL_TOLERANCE) else {
        return json!({});
    };
    if parts.sheared {
        return json!({"matrix": columns(a)});
    }
    let (t, s) = (parts.translation, parts.scale);
    let q = parts.rotation.coords;
    let mut out = json!({"rotation": [q.x, q.y, q.z, q.w]});
    if t.amax() != 0.0 {
        out["translation"] = json!([t.x, t.y, t.z]);
    }
    if s.iter().any(|c| (c - 1.0).abs() > 1e-9) {
        out["scale"] = json!([s.x, s.y, s.z]);
    }
    out
}

fn columns(a: &Affine<f64>) -> [f64; 16] {
    std::array::from_fn(|i| match (i % 4, i / 4) {
        (3, 3) => 1.0,
        (3, _) => 0.0,
        (row, 3) => a.translation[row],
        (row, column) => a.linear[(row, column)],
    })
}

fn joints_node(s: &Solver, pose: &str, driver: &str) -> Value {
    let poses = s.driven_transforms.iter().zip(&s.driver.poses);
    let poses: Vec<Value> = poses
        .map(|(joints, p)| {
            let joints: Vec<Value> = joints.iter().map(transform).collect();
            json!({"name": p.name, "joints": joints})
        })
        .collect();
    json!({
        "node": "drive_joints", "pose": pose, "weights": driver,
        "joints": s.driven_joints, "space": "parent", "poses": poses,
    })
}

fn morphs_node(s: &Solver, driver: &str, base: Option<&str>) -> Value {
    let mut node = json!({
        "node": "drive_morphs", "mesh": "body", "weights": driver, "targets": s.morph_targets,
    });
    if let Some(base) = base {
        node["base"] = base.into();
    }
    node
}
