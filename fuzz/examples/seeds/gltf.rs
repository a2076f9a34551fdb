//! GLB files that use what Sinew's own writer does not: skins, sparse accessors, quantisation, compression, strips.

use serde_json::{Value, json};
use sinew_fuzz::mutate::Glb;
use std::error::Error;
use std::path::Path;

const FLOAT: u32 = 5126;
const SHORT: u32 = 5123;
const BYTE: u32 = 5121;

/// A document that grows, and its binary part.
struct Builder {
    json: Value,
    bin: Vec<u8>,
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn shorts(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

impl Builder {
    /// One node with a mesh of one primitive: four vertices, two triangles.
    fn square() -> Self {
        let mut b = Self {
            json: json!({
                "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
                "nodes": [{"mesh": 0}], "meshes": [{"name": "square", "primitives": [{"attributes": {}}]}],
                "accessors": [], "bufferViews": [],
            }),
            bin: Vec::new(),
        };
        let p = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0];
        b.attribute("POSITION", &floats(&p), FLOAT, "VEC3", 4);
        let indices = b.accessor(&shorts(&[0, 1, 2, 0, 2, 3]), SHORT, "SCALAR", 6);
        b.primitive()["indices"] = indices.into();
        b
    }

    fn push(&mut self, list: &str, value: Value) -> usize {
        if self.json[list].is_null() {
            self.json[list] = json!([]);
        }
        let items = self.json[list].as_array_mut().expect("a list");
        items.push(value);
        items.len() - 1
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        let view = json!({"buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len()});
        self.bin.extend_from_slice(bytes);
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        self.push("bufferViews", view)
    }

    fn accessor(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize) -> usize {
        let view = self.view(bytes);
        self.push(
            "accessors",
            json!({"bufferView": view, "componentType": component, "count": count, "type": kind}),
        )
    }

    fn attribute(&mut self, name: &str, bytes: &[u8], component: u32, kind: &str, count: usize) {
        let accessor = self.accessor(bytes, component, kind, count);
        self.primitive()["attributes"][name] = accessor.into();
    }

    fn primitive(&mut self) -> &mut Value {
        &mut self.json["meshes"][0]["primitives"][0]
    }

    /// Joints, weights, two skins, a clip of all kinds of channels.
    fn skinned(mut self) -> Self {
        self.attribute("JOINTS_0", &[0, 1, 0, 0].repeat(4), BYTE, "VEC4", 4);
        let weights = [0.7, 0.3, 0.0, 0.0].repeat(4);
        self.attribute("WEIGHTS_0", &floats(&weights), FLOAT, "VEC4", 4);
        self.json["nodes"] = json!([
            {"mesh": 0, "skin": 0, "weights": [0.5]},
            {"name": "root", "children": [2], "translation": [0, 1, 0]},
            {"name": "tip", "rotation": [0, 0, 0.6, 0.8], "scale": [1, 2, 1]},
            {"mesh": 0, "skin": 1},
            {"mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 3, 0, 0, 1]},
        ]);
        self.json["scenes"] = json!([{"nodes": [0, 1, 3, 4]}]);
        let target = self.accessor(&floats(&[0.1; 12]), FLOAT, "VEC3", 4);
        self.primitive()["targets"] = json!([{"POSITION": target}]);
        self.json["meshes"][0]["weights"] = json!([0.25]);
        self.json["meshes"][0]["extras"] = json!({"targetNames": ["smile"]});
        let mut matrices = Vec::new();
        for x in 0..2 {
            let x = x as f32;
            let m = [
                1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, -1.0, 0.0, 1.0,
            ];
            matrices.extend(m);
        }
        let binds = self.accessor(&floats(&matrices), FLOAT, "MAT4", 2);
        self.push(
            "skins",
            json!({"joints": [1, 2], "inverseBindMatrices": binds}),
        );
        self.push("skins", json!({"joints": [2, 1]}));
        let times = self.accessor(&floats(&[0.0, 1.0]), FLOAT, "SCALAR", 2);
        let moves = self.accessor(&floats(&[0.0, 1.0, 0.0, 0.0, 2.0, 0.0]), FLOAT, "VEC3", 2);
        let turns = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0].repeat(3);
        let turns = self.accessor(&floats(&turns), FLOAT, "VEC4", 6);
        let weights = self.accessor(&floats(&[0.0, 1.0]), FLOAT, "SCALAR", 2);
        self.push("animations", json!({
            "name": "move",
            "samplers": [
                {"input": times, "output": moves},
                {"input": times, "output": turns, "interpolation": "CUBICSPLINE"},
                {"input": times, "output": weights, "interpolation": "STEP"},
            ],
            "channels": [
                {"sampler": 0, "target": {"node": 1, "path": "translation"}},
                {"sampler": 0, "target": {"node": 1, "path": "scale"}},
                {"sampler": 1, "target": {"node": 2, "path": "rotation"}},
                {"sampler": 2, "target": {"node": 0, "path": "weights"}},
                {"sampler": 0, "target": {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": "/nodes/0"}}}},
            ],
        }));
        self
    }

    /// Sparse with and without a base; a second primitive with attributes of its own; strips.
    fn sparse(mut self) -> Self {
        let indices = self.view(&shorts(&[1, 3]));
        let values = self.view(&floats(&[5.0; 6]));
        let sparse = json!({"count": 2, "indices": {"bufferView": indices, "componentType": SHORT},
            "values": {"bufferView": values}});
        self.json["accessors"][0]["sparse"] = sparse.clone();
        let empty = json!({"componentType": FLOAT, "count": 4, "type": "VEC3", "sparse": sparse});
        let empty = self.push("accessors", empty);
        self.primitive()["targets"] = json!([{"POSITION": empty, "NORMAL": empty}]);
        let uv = self.accessor(&floats(&[0.5; 8]), FLOAT, "VEC2", 4);
        let color = self.accessor(&[255, 0, 128, 0].repeat(4), BYTE, "VEC4", 4);
        self.json["accessors"][color]["normalized"] = true.into();
        self.primitive()["attributes"]["_MASK"] = 1.into();
        let first = self.primitive().clone();
        let mut second = json!({"attributes": {"POSITION": empty, "TEXCOORD_0": uv, "COLOR_0": color},
            "mode": 5, "targets": first["targets"], "material": 0});
        second["attributes"]["NORMAL"] = empty.into();
        self.json["meshes"][0]["primitives"] = json!([first, second, {"attributes": {"POSITION": 0}, "mode": 6,
            "targets": second["targets"]}]);
        let mask = self.accessor(&floats(&[0.5; 4]), FLOAT, "SCALAR", 4);
        self.primitive()["attributes"]["_MASK"] = mask.into();
        self
    }

    /// Short integers with a scaled node, interleaved.
    fn quantised(mut self) -> Self {
        let raw: Vec<u16> = vec![0, 0, 0, 9, 100, 0, 0, 9, 100, 200, 0, 9, 0, 200, 0, 9];
        let view = self.view(&shorts(&raw));
        self.json["bufferViews"][view]["byteStride"] = 8.into();
        self.json["accessors"][0]["bufferView"] = view.into();
        self.json["accessors"][0]["componentType"] = SHORT.into();
        let normals = [0, 0, 127, 0].repeat(4);
        self.attribute("NORMAL", &normals, 5120, "VEC3", 4);
        let normal = self.json["accessors"].as_array().expect("a list").len() - 1;
        let view = self.json["accessors"][normal]["bufferView"]
            .as_u64()
            .expect("an index");
        self.json["bufferViews"][view as usize]["byteStride"] = 4.into();
        self.json["accessors"][normal]["normalized"] = true.into();
        self.json["nodes"][0]["scale"] = json!([0.01, 0.01, 0.01]);
        self.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
        self.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
        self
    }

    /// Both versions of VRM.
    fn avatar(mut self) -> Self {
        let bind = json!({"node": 0, "mesh": 0, "index": 0, "weight": 1});
        self.json["extensionsUsed"] = json!(["VRM", "VRMC_vrm", "VRMC_springBone"]);
        self.json["extensions"] = json!({
            "VRM": {
                "humanoid": {"humanBones": [{"bone": "hips", "node": 0}]},
                "blendShapeMaster": {"blendShapeGroups": [{"name": "A", "presetName": "a", "binds": [bind]}]},
                "secondaryAnimation": {"boneGroups": [{"comment": "tail", "bones": [0]}]},
            },
            "VRMC_vrm": {
                "specVersion": "1.0",
                "humanoid": {"humanBones": {"hips": {"node": 0}}},
                "expressions": {"preset": {"aa": {"isBinary": true, "overrideBlink": "block", "morphTargetBinds": [bind]}}},
            },
            "VRMC_springBone": {"specVersion": "1.0", "springs": [{"name": "tail", "joints": [{"node": 0}]}]},
        });
        self
    }

    /// Every view through meshoptimizer's codecs.
    fn compressed(mut self) -> Result<Self, Box<dyn Error>> {
        let positions: Vec<[f32; 3]> = (0..4).map(|v| [v as f32, 1.0, 0.5]).collect();
        let encoded = meshopt::encode_vertex_buffer(&positions)?;
        self.compress(
            0,
            &encoded,
            12,
            4,
            "ATTRIBUTES",
            None,
            "EXT_meshopt_compression",
        );
        let encoded = meshopt::encode_index_buffer(&[0, 1, 2, 0, 2, 3], 4)?;
        self.compress(
            1,
            &encoded,
            2,
            6,
            "TRIANGLES",
            None,
            "EXT_meshopt_compression",
        );
        let normals: Vec<[i8; 4]> = vec![[0, 0, 127, 0]; 4];
        let encoded = meshopt::encode_vertex_buffer(&normals)?;
        self.attribute("NORMAL", &[0; 16], 5120, "VEC3", 4);
        self.json["accessors"][2]["normalized"] = true.into();
        self.json["bufferViews"][2]["byteStride"] = 4.into();
        let filter = Some("OCTAHEDRAL");
        self.compress(
            2,
            &encoded,
            4,
            4,
            "ATTRIBUTES",
            filter,
            "KHR_meshopt_compression",
        );
        let tangents: Vec<[i16; 4]> = vec![[0, 0, 127, 1]; 4];
        let encoded = meshopt::encode_vertex_buffer(&tangents)?;
        self.attribute("TANGENT", &[0; 32], 5122, "VEC4", 4);
        self.json["accessors"][3]["normalized"] = true.into();
        self.compress(
            3,
            &encoded,
            8,
            4,
            "ATTRIBUTES",
            Some("QUATERNION"),
            "EXT_meshopt_compression",
        );
        let uvs: Vec<[u32; 2]> = vec![[0x0100_0001, 0xff00_0002]; 4];
        let encoded = meshopt::encode_vertex_buffer(&uvs)?;
        self.attribute("TEXCOORD_0", &[0; 32], FLOAT, "VEC2", 4);
        self.compress(
            4,
            &encoded,
            8,
            4,
            "ATTRIBUTES",
            Some("EXPONENTIAL"),
            "EXT_meshopt_compression",
        );
        let names = json!(["EXT_meshopt_compression", "KHR_meshopt_compression"]);
        self.json["extensionsUsed"] = names.clone();
        self.json["extensionsRequired"] = names;
        Ok(self)
    }

    #[expect(clippy::too_many_arguments, reason = "the members of the extension")]
    fn compress(
        &mut self,
        view: usize,
        encoded: &[u8],
        stride: usize,
        count: usize,
        mode: &str,
        filter: Option<&str>,
        name: &str,
    ) {
        let mut extension = json!({"buffer": 0, "byteOffset": self.bin.len(), "byteLength": encoded.len(),
            "byteStride": stride, "count": count, "mode": mode});
        if let Some(filter) = filter {
            extension["filter"] = filter.into();
        }
        self.bin.extend_from_slice(encoded);
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        self.json["bufferViews"][view]["byteLength"] = (stride * count).into();
        self.json["bufferViews"][view]["extensions"] = json!({name: extension});
    }

    fn save(mut self, path: &Path) -> Result<(), Box<dyn Error>> {
        self.json["buffers"] = json!([{"byteLength": self.bin.len()}]);
        let glb = Glb {
            json: self.json.to_string().into_bytes(),
            bin: Some(self.bin),
        };
        let bytes = glb.bytes();
        // A seed that is refused would teach the fuzzer little.
        sinew::io::read_gltf_bytes(bytes.clone(), None, &path.to_string_lossy())?;
        std::fs::write(path, bytes)?;
        Ok(())
    }
}

/// All of them.
pub fn write(to: &Path) -> Result<(), Box<dyn Error>> {
    Builder::square().save(&to.join("square.glb"))?;
    Builder::square().skinned().save(&to.join("skinned.glb"))?;
    Builder::square().sparse().save(&to.join("sparse.glb"))?;
    Builder::square()
        .sparse()
        .avatar()
        .save(&to.join("avatar.glb"))?;
    Builder::square()
        .quantised()
        .save(&to.join("quantised.glb"))?;
    Builder::square()
        .compressed()?
        .save(&to.join("compressed.glb"))?;
    Builder::square()
        .compressed()?
        .skinned()
        .save(&to.join("all.glb"))?;
    // The same as text, with the bytes in a data URI.
    let text = r#"{"asset":{"version":"2.0"},"nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],"bufferViews":[{"buffer":0,"byteLength":36}],
        "buffers":[{"byteLength":36,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}]}"#;
    std::fs::write(to.join("text.gltf"), text)?;
    Ok(())
}
