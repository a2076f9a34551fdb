use serde_json::Value;
use std::path::Path;

/// What a player sees: an independent decoder of the parts of glTF that the writer uses.
pub(super) struct Played {
    pub(super) json: Value,
    pub(super) binary: Vec<u8>,
}

impl Played {
    pub(super) fn open(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("file");
        assert_eq!(bytes.len() % 4, 0);
        let word =
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("word")) as usize;
        assert_eq!((word(0), word(4), word(8)), (0x4654_6C67, 2, bytes.len()));
        let json_end = 20 + word(12);
        let binary = if json_end < bytes.len() {
            assert_eq!(
                (word(json_end), word(json_end + 4)),
                (bytes.len() - json_end - 8, 0x004E_4942)
            );
            bytes[json_end + 8..].to_vec()
        } else {
            Vec::new()
        };
        Self {
            json: serde_json::from_slice(&bytes[20..json_end]).expect("JSON"),
            binary,
        }
    }

    pub(super) fn raw(&self, view: &Value, offset: &Value) -> &[u8] {
        let v = &self.json["bufferViews"][view.as_u64().expect("view") as usize];
        let n = |key: &str| v[key].as_u64().unwrap_or(0) as usize;
        let start = n("byteOffset");
        &self.binary[start + offset.as_u64().unwrap_or(0) as usize..start + n("byteLength")]
    }

    pub(super) fn integers(&self, holder: &Value, count: usize) -> Vec<usize> {
        let raw = self.raw(&holder["bufferView"], &holder["byteOffset"]);
        match holder["componentType"].as_u64() {
            Some(5123) => raw
                .chunks(2)
                .take(count)
                .map(|c| u16::from_le_bytes([c[0], c[1]]) as usize)
                .collect(),
            Some(5125) => raw
                .chunks(4)
                .take(count)
                .map(|c| u32::from_le_bytes(c.try_into().expect("4")) as usize)
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn floats(&self, accessor: &Value) -> Vec<f32> {
        let a = &self.json["accessors"][accessor.as_u64().expect("accessor") as usize];
        assert_eq!(a["componentType"], 5126);
        let width = match a["type"].as_str() {
            Some("SCALAR") => 1,
            Some(t) => t[3..].parse().expect("VECn"),
            None => panic!("no type"),
        };
        let count = a["count"].as_u64().expect("count") as usize * width;
        let number = |c: &[u8]| f32::from_le_bytes(c.try_into().expect("4"));
        let mut out = vec![0.0; count];
        if a["bufferView"].is_u64() {
            let stored = self
                .raw(&a["bufferView"], &a["byteOffset"])
                .chunks(4)
                .map(number);
            out.iter_mut().zip(stored).for_each(|(o, s)| *o = s);
        }
        if let Some(n) = a["sparse"]["count"].as_u64() {
            let at = self.integers(&a["sparse"]["indices"], n as usize);
            let values = self.raw(&a["sparse"]["values"]["bufferView"], &Value::Null);
            for (i, v) in at.iter().zip(values.chunks(4 * width)) {
                for (c, v) in v.chunks(4).enumerate() {
                    out[i * width + c] = number(v);
                }
            }
        }
        out
    }

    pub(super) fn triples(&self, accessor: &Value) -> Vec<[f32; 3]> {
        self.floats(accessor)
            .chunks(3)
            .map(|c| [c[0], c[1], c[2]])
            .collect()
    }

    /// Base plus weighted targets at key `k`.
    pub(super) fn at_key(
        &self,
        primitive: &Value,
        attribute: &str,
        k: usize,
        width: usize,
    ) -> Vec<[f32; 3]> {
        let mut out: Vec<[f32; 3]> = self
            .floats(&primitive["attributes"][attribute])
            .chunks(width)
            .map(|c| [c[0], c[1], c[2]])
            .collect();
        let Some(targets) = primitive["targets"].as_array() else {
            return out;
        };
        let weights = self.floats(&self.json["animations"][0]["samplers"][0]["output"]);
        for (target, weight) in targets.iter().zip(&weights[k * targets.len()..]) {
            for (o, d) in out.iter_mut().zip(self.triples(&target[attribute])) {
                (0..3).for_each(|c| o[c] += weight * d[c]);
            }
        }
        out
    }
}
