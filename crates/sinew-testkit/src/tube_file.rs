//! A skinned tube with morph targets and a clip, as the bytes of a GLB file.

use serde_json::{Value, json};
use sinew_geom::{Mesh, MorphTarget};

/// What the file holds. Build the mesh with [`crate::meshes::tube`], one metre long.
#[derive(Clone, Debug)]
pub struct TubeFile {
    /// The tube with its targets.
    pub mesh: Mesh,
    /// Rotation of the second joint (`lower`, half way along) from rest, x y z w: one a second, linear in between, clip `poses`.
    pub rotations: Vec<[f32; 4]>,
    /// Animated weights of the targets, in the same clip: interpolation as glTF calls it, and a row for each second; three rows
    /// (tangent in, value, tangent out) for `CUBICSPLINE`.
    pub weights: Option<(&'static str, Vec<f32>)>,
    /// Weights at rest.
    pub rest_weights: Option<Vec<f32>>,
    /// A graph document in the file.
    pub graph: Option<Value>,
}

/// A document in the making.
#[derive(Default)]
struct Parts {
    views: Vec<Value>,
    accessors: Vec<Value>,
    binary: Vec<u8>,
}

impl Parts {
    fn view(&mut self, bytes: &[u8]) -> usize {
        let view =
            json!({ "buffer": 0, "byteOffset": self.binary.len(), "byteLength": bytes.len() });
        self.views.push(view);
        self.binary.extend_from_slice(bytes);
        let padded = self.binary.len().next_multiple_of(4);
        self.binary.resize(padded, 0);
        self.views.len() - 1
    }

    fn add(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn floats(&mut self, numbers: &[f32], ty: &str, width: usize) -> usize {
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let bound = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
            let column = |c| numbers.iter().skip(c).step_by(width).copied();
            (0..width)
                .map(|c| column(c).reduce(pick).unwrap_or(0.0))
                .collect()
        };
        let (min, max) = (bound(f32::min), bound(f32::max));
        let view = self.view(&bytes);
        self.add(
            json!({ "bufferView": view, "componentType": 5126, "count": numbers.len() / width,
            "type": ty, "min": min, "max": max }),
        )
    }

    /// Zeros but for some rows.
    fn sparse(&mut self, rows: &[u32], deltas: &[[f32; 3]], count: usize) -> usize {
        if rows.is_empty() {
            return self.add(
                json!({ "componentType": 5126, "count": count, "type": "VEC3",
                "min": [0, 0, 0], "max": [0, 0, 0] }),
            );
        }
        let short: Vec<u8> = rows
            .iter()
            .flat_map(|r| (*r as u16).to_le_bytes())
            .collect();
        let indices = self.view(&short);
        let bytes: Vec<u8> = deltas
            .as_flattened()
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect();
        let values = self.view(&bytes);
        let bound = |pick: fn(f32, f32) -> f32| {
            let all = deltas.iter().copied().chain([[0.0; 3]]);
            let both = all.reduce(|a, b| std::array::from_fn(|c| pick(a[c], b[c])));
            both.unwrap_or_default()
        };
        self.add(
            json!({ "componentType": 5126, "count": count, "type": "VEC3",
            "min": bound(f32::min), "max": bound(f32::max),
            "sparse": { "count": rows.len(), "values": { "bufferView": values },
                "indices": { "bufferView": indices, "componentType": 5123 } } }),
        )
    }

    fn target(&mut self, target: &MorphTarget, count: usize) -> Value {
        let mut out =
            json!({ "POSITION": self.sparse(&target.vertices, &target.positions, count) });
        if !target.normals.is_empty() {
            out["NORMAL"] = self.sparse(&target.vertices, &target.normals, count).into();
        }
        out
    }
}

impl TubeFile {
    /// The bytes. The material comes behind the targets in the lists, so that something must stay where it is.
    pub fn glb(&self) -> Vec<u8> {
        let mut parts = Parts::default();
        let count = self.mesh.vertex_count();
        let positions = parts.floats(self.mesh.positions.as_flattened(), "VEC3", 3);
        let normals = self.mesh.normals.clone().unwrap_or_default();
        let normals = parts.floats(normals.as_flattened(), "VEC3", 3);
        let targets: Vec<Value> = self
            .mesh
            .morph_targets
            .iter()
            .map(|t| parts.target(t, count))
            .collect();
        let names: Vec<&str> = self
            .mesh
            .morph_targets
            .iter()
            .map(|t| t.name.as_str())
            .collect();
        let (joints, weights) = self.influences(&mut parts);
        let triangles: Vec<u8> = self
            .mesh
            .topology
            .triangles()
            .as_flattened()
            .iter()
            .flat_map(|v| (*v as u16).to_le_bytes())
            .collect();
        let corners = triangles.len() / 2;
        let view = parts.view(&triangles);
        let indices = parts.add(json!({ "bufferView": view, "componentType": 5123, "count": corners, "type": "SCALAR" }));
        let binds = parts.floats(&[bind(0.0), bind(-0.5)].concat(), "MAT4", 16);
        let animation = self.animation(&mut parts);
        let mut mesh = json!({ "name": "tube", "extras": { "targetNames": names }, "primitives": [{
            "attributes": { "POSITION": positions, "NORMAL": normals, "JOINTS_0": joints, "WEIGHTS_0": weights },
            "indices": indices, "material": 0, "targets": targets }] });
        if let Some(weights) = &self.rest_weights {
            mesh["weights"] = json!(weights);
        }
        let mut root = json!({
            "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0, 1] }],
            "nodes": [{ "name": "tube", "mesh": 0, "skin": 0 }, { "name": "upper", "children": [2] },
                { "name": "lower", "translation": [0.5, 0, 0] }],
            "meshes": [mesh], "skins": [{ "joints": [1, 2], "inverseBindMatrices": binds }],
            "materials": [{ "name": "skin" }], "animations": [animation],
            "accessors": parts.accessors, "bufferViews": parts.views,
            "buffers": [{ "byteLength": parts.binary.len() }],
        });
        if let Some(graph) = &self.graph {
            root["extensionsUsed"] = json!(["SINEW_graph"]);
            root["extensions"] = json!({ "SINEW_graph": { "version": "1.0", "graph": graph } });
        }
        container(&root, &parts.binary)
    }

    fn influences(&self, parts: &mut Parts) -> (usize, usize) {
        let count = self.mesh.vertex_count();
        let of_lower = |v: usize| {
            let row = self.mesh.influences.as_ref().map(|i| i.row(v));
            row.into_iter()
                .flatten()
                .find(|w| w.0 == 1)
                .map_or(0.0, |w| w.1)
        };
        let joints: Vec<u8> = (0..count).flat_map(|_| [0, 1, 0, 0]).collect();
        let view = parts.view(&joints);
        let joints = parts.add(
            json!({ "bufferView": view, "componentType": 5121, "count": count, "type": "VEC4" }),
        );
        let weights: Vec<f32> = (0..count)
            .flat_map(|v| [1.0 - of_lower(v), of_lower(v), 0.0, 0.0])
            .collect();
        (joints, parts.floats(&weights, "VEC4", 4))
    }

    fn animation(&self, parts: &mut Parts) -> Value {
        let times: Vec<f32> = (0_u16..)
            .take(self.rotations.len())
            .map(f32::from)
            .collect();
        let input = parts.floats(&times, "SCALAR", 1);
        let output = parts.floats(self.rotations.as_flattened(), "VEC4", 4);
        let mut samplers = vec![json!({ "input": input, "output": output })];
        let mut channels =
            vec![json!({ "sampler": 0, "target": { "node": 2, "path": "rotation" } })];
        if let Some((interpolation, numbers)) = &self.weights {
            let output = parts.floats(numbers, "SCALAR", 1);
            samplers
                .push(json!({ "input": input, "output": output, "interpolation": interpolation }));
            channels.push(json!({ "sampler": 1, "target": { "node": 0, "path": "weights" } }));
        }
        json!({ "name": "poses", "samplers": samplers, "channels": channels })
    }
}

/// Inverse bind matrix of a joint that far along X.
fn bind(x: f32) -> [f32; 16] {
    let mut m = [0.0; 16];
    (m[0], m[5], m[10], m[15], m[12]) = (1.0, 1.0, 1.0, 1.0, x);
    m
}

fn container(root: &Value, binary: &[u8]) -> Vec<u8> {
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let word = |n: usize| (n as u32).to_le_bytes();
    let mut out = b"glTF".to_vec();
    out.extend(
        [
            word(2),
            word(28 + text.len() + binary.len()),
            word(text.len()),
        ]
        .concat(),
    );
    out.extend(b"JSON");
    out.extend(&text);
    out.extend(word(binary.len()));
    out.extend(b"BIN\0");
    out.extend(binary);
    out
}
