//! The least of glTF that the golden character needs; the crate itself reads no files.

use serde_json::Value;
use sinew_geom::nalgebra::Quaternion;
use sinew_geom::{
    Affine, Channel, ChannelTarget, Clip, Influences, Interpolation, Joint, LocalTransform, Mesh,
    Node, Quat, Rig, Topology, Trs, Vec3,
};
use std::path::Path;

pub(crate) struct Glb {
    json: Value,
    bin: Vec<u8>,
}

fn index(v: &Value) -> usize {
    v.as_u64().expect("an index") as usize
}

impl Glb {
    pub(crate) fn open(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("readable");
        let word =
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4")) as usize;
        let json_len = word(12);
        let json = serde_json::from_slice(&bytes[20..20 + json_len]).expect("JSON");
        Self {
            json,
            bin: bytes[28 + json_len..].to_vec(),
        }
    }

    /// All numbers of an accessor, as stored.
    fn numbers(&self, accessor: &Value) -> Vec<f32> {
        let a = &self.json["accessors"][index(accessor)];
        let view = &self.json["bufferViews"][index(&a["bufferView"])];
        let width = match a["type"].as_str() {
            Some("SCALAR") => 1,
            Some("VEC3") => 3,
            Some("VEC4") => 4,
            Some("MAT4") => 16,
            other => panic!("type {other:?}"),
        };
        let (size, read): (usize, fn(&[u8]) -> f32) = match a["componentType"].as_u64() {
            Some(5126) => (4, |b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            Some(5123) => (2, |b| f32::from(u16::from_le_bytes([b[0], b[1]]))),
            Some(5121) => (1, |b| f32::from(b[0])),
            other => panic!("component {other:?}"),
        };
        let start =
            view["byteOffset"].as_u64().unwrap_or(0) + a["byteOffset"].as_u64().unwrap_or(0);
        let stride = view["byteStride"]
            .as_u64()
            .map_or(width * size, |s| s as usize);
        (0..index(&a["count"]))
            .flat_map(|e| (0..width).map(move |c| start as usize + e * stride + c * size))
            .map(|at| read(&self.bin[at..]))
            .collect()
    }

    fn local(&self, node: &Value) -> LocalTransform {
        let get = |key: &str| -> Option<Vec<f64>> {
            Some(
                node[key]
                    .as_array()?
                    .iter()
                    .filter_map(Value::as_f64)
                    .collect(),
            )
        };
        if let Some(m) = get("matrix") {
            return LocalTransform::Matrix(Affine::from_columns(&m.try_into().expect("16")));
        }
        let vec3 = |v: Vec<f64>| Vec3::new(v[0], v[1], v[2]);
        LocalTransform::Trs(Trs {
            translation: get("translation").map_or(Vec3::zeros(), vec3),
            rotation: get("rotation").map_or(Quat::identity(), |q| {
                Quat::from_quaternion(Quaternion::new(q[3], q[0], q[1], q[2]))
            }),
            scale: get("scale").map_or(Vec3::repeat(1.0), vec3),
        })
    }

    /// Nodes reordered parents first; second result: new index of each old one.
    fn nodes(&self) -> (Vec<Node>, Vec<usize>) {
        let old = self.json["nodes"].as_array().expect("nodes");
        let mut parent = vec![None; old.len()];
        for (i, n) in old.iter().enumerate() {
            for c in n["children"].as_array().into_iter().flatten() {
                parent[index(c)] = Some(i);
            }
        }
        let depth = |i: usize| std::iter::successors(Some(i), |&p| parent[p]).count();
        let mut order: Vec<usize> = (0..old.len()).collect();
        order.sort_by_key(|&i| depth(i));
        let mut new_of = vec![0; old.len()];
        for (new, &i) in order.iter().enumerate() {
            new_of[i] = new;
        }
        let nodes = order
            .iter()
            .map(|&i| Node {
                name: old[i]["name"].as_str().unwrap_or_default().to_owned(),
                parent: parent[i].map(|p: usize| new_of[p]),
                local: self.local(&old[i]),
                morph_weights: Vec::new(),
                morph_offset: 0,
            })
            .collect();
        (nodes, new_of)
    }

    pub(crate) fn rig(&self) -> (Rig, Vec<usize>) {
        let (nodes, new_of) = self.nodes();
        let skin = &self.json["skins"][0];
        let ibm = self.numbers(&skin["inverseBindMatrices"]);
        let joints = skin["joints"]
            .as_array()
            .expect("joints")
            .iter()
            .zip(ibm.chunks_exact(16))
            .map(|(j, m)| Joint {
                node: new_of[index(j)],
                joint_from_bind: Affine::from_columns(&std::array::from_fn(|k| f64::from(m[k]))),
            })
            .collect();
        (Rig::new(nodes, joints).expect("valid rig"), new_of)
    }

    pub(crate) fn clip(&self, name: &str, new_of: &[usize]) -> Clip {
        let all = self.json["animations"].as_array().expect("animations");
        let a = all.iter().find(|a| a["name"] == name).expect("the clip");
        let channel = |c: &Value| {
            let (target, width) = match c["target"]["path"].as_str()? {
                "translation" => (ChannelTarget::Translation, 3),
                "rotation" => (ChannelTarget::Rotation, 4),
                "scale" => (ChannelTarget::Scale, 3),
                _ => return None,
            };
            let s = &a["samplers"][index(&c["sampler"])];
            let interpolation = match s["interpolation"].as_str() {
                Some("STEP") => Interpolation::Step,
                Some("CUBICSPLINE") => Interpolation::CubicSpline,
                _ => Interpolation::Linear,
            };
            let node = new_of[index(&c["target"]["node"])];
            let (times, values) = (self.numbers(&s["input"]), self.numbers(&s["output"]));
            Some(Channel::new(node, target, interpolation, times, values, width).expect("channel"))
        };
        let channels = a["channels"].as_array().expect("channels");
        Clip::new(name, channels.iter().filter_map(channel).collect())
    }

    pub(crate) fn mesh(&self, joint_count: usize) -> Mesh {
        let primitive = &self.json["meshes"][0]["primitives"][0];
        let attributes = &primitive["attributes"];
        let positions: Vec<[f32; 3]> = self.numbers(&attributes["POSITION"]).as_chunks().0.to_vec();
        let mut rows = vec![Vec::new(); positions.len()];
        for set in 0.. {
            let (j, w) = (
                &attributes[format!("JOINTS_{set}")],
                &attributes[format!("WEIGHTS_{set}")],
            );
            if j.is_null() {
                break;
            }
            let (j, w) = (self.numbers(j), self.numbers(w));
            for (v, row) in rows.iter_mut().enumerate() {
                row.extend((4 * v..4 * v + 4).map(|k| (j[k] as u32, w[k])));
            }
        }
        let corners: Vec<u32> = self
            .numbers(&primitive["indices"])
            .iter()
            .map(|&i| i as u32)
            .collect();
        let triangles = corners.as_chunks().0.to_vec();
        let topology = Topology::new(positions.len() as u32, triangles).expect("triangles");
        let mut mesh = Mesh::new("golden", topology, positions);
        let cleaned = Influences::from_rows(rows.iter().map(Vec::as_slice), joint_count, 0);
        mesh.influences = Some(cleaned.expect("valid").0);
        mesh
    }
}
