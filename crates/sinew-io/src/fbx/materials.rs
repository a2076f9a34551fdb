//! Materials as metallic-roughness materials, and their images.

use super::document::{Document, quoted};
use crate::Folders;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use ufbx::{Material, MaterialMap, Scene, Texture, TextureType, WrapMode};

const REPEAT: u32 = 10497;
const CLAMP: u32 = 33071;

/// Writes all materials, with the numbers that they have in the scene.
pub(super) fn write(doc: &mut Document<'_>, scene: &Scene, base_dir: Option<&Path>) {
    let mut work = Work {
        doc,
        scene,
        base_dir,
        textures: BTreeMap::new(),
        images: BTreeMap::new(),
        unread: 0,
        transformed: 0,
    };
    for material in scene.materials.iter() {
        let entry = work.material(material);
        work.doc.out.add("materials", entry);
    }
    let (unread, transformed) = (work.unread, work.transformed);
    if unread > 0 {
        let message = format!(
            "{unread} textures of materials have no counterpart in glTF, or are layered or procedural; they were skipped"
        );
        doc.warn("textures_skipped", message);
    }
    if transformed > 0 {
        let message = format!(
            "{transformed} textures are moved, rotated or scaled on their mesh; this is not read"
        );
        doc.warn("texture_transforms_ignored", message);
    }
}

struct Work<'w, 'a> {
    doc: &'w mut Document<'a>,
    scene: &'w Scene,
    base_dir: Option<&'w Path>,
    /// Texture of the document for each texture of the scene.
    textures: BTreeMap<u32, Option<usize>>,
    /// Images of the document by their bytes.
    images: BTreeMap<Vec<u8>, usize>,
    unread: usize,
    transformed: usize,
}

impl Work<'_, '_> {
    fn material(&mut self, m: &Material) -> Value {
        let pbr = &m.pbr;
        let factor = number(&pbr.base_factor).unwrap_or(1.0);
        let color = color(&pbr.base_color).map_or([factor; 3], |c| c.map(|c| c * factor));
        let opacity = opacity_of(m);
        let mut metallic = json!({
            "baseColorFactor": rgba(color, opacity),
            "metallicFactor": number(&pbr.metalness).unwrap_or(0.0).clamp(0.0, 1.0),
            "roughnessFactor": number(&pbr.roughness).unwrap_or(0.5).clamp(0.0, 1.0),
        });
        let mut out = json!({ "name": m.element.name.as_ref(), "doubleSided": true });
        let base = self.texture(&pbr.base_color);
        if let Some(base) = &base {
            metallic["baseColorTexture"] = base.clone();
            let tint = if pbr.base_color.has_value {
                factor
            } else {
                1.0
            };
            metallic["baseColorFactor"] = json!(rgba([tint; 3], opacity));
        }
        let (rough, metal) = (self.texture(&pbr.roughness), self.texture(&pbr.metalness));
        match (rough, metal) {
            (Some(rough), Some(metal)) if rough == metal => {
                metallic["metallicRoughnessTexture"] = rough;
                metallic["metallicFactor"] = json!(1.0);
                metallic["roughnessFactor"] = json!(1.0);
            }
            (rough, metal) => {
                self.unread += usize::from(rough.is_some()) + usize::from(metal.is_some())
            }
        }
        out["pbrMetallicRoughness"] = metallic;
        let normal = self
            .texture(&pbr.normal_map)
            .or_else(|| self.texture(&m.fbx.bump));
        if let Some(normal) = normal {
            out["normalTexture"] = normal;
        }
        if let Some(occlusion) = self.texture(&pbr.ambient_occlusion) {
            out["occlusionTexture"] = occlusion;
        }
        self.emission(m, &mut out);
        let cut = self.texture(&pbr.opacity);
        if opacity < 1.0 || cut.is_some() {
            out["alphaMode"] = "BLEND".into();
        }
        if cut.is_some() && cut != base {
            self.unread += 1;
        }
        out
    }

    fn emission(&mut self, m: &Material, out: &mut Value) {
        let factor = number(&m.pbr.emission_factor).unwrap_or(1.0);
        let texture = self.texture(&m.pbr.emission_color);
        let color = match (&texture, color(&m.pbr.emission_color)) {
            (Some(_), _) => [factor; 3],
            (None, color) => color.unwrap_or_default().map(|c| c * factor),
        };
        if color.iter().any(|c| *c > 0.0) {
            out["emissiveFactor"] = json!(color.map(|c| c.clamp(0.0, 1.0)));
        }
        if let Some(texture) = texture {
            out["emissiveTexture"] = texture;
        }
    }

    /// A reference to the texture of a property; `None` if it has none that can be read.
    fn texture(&mut self, map: &MaterialMap) -> Option<Value> {
        let texture = map.texture.as_ref().filter(|_| map.texture_enabled)?;
        let index = match self.textures.get(&texture.element.element_id) {
            Some(known) => *known,
            None => {
                let index = self.add(texture);
                self.textures.insert(texture.element.element_id, index);
                index
            }
        };
        let mut out = json!({ "index": index? });
        if let Some(set @ 1..) = self.uv_set(texture) {
            out["texCoord"] = set.into();
        }
        Some(out)
    }

    /// Number of the texture coordinate set of that name in the first mesh with such a set.
    fn uv_set(&self, texture: &Texture) -> Option<usize> {
        let name = texture.uv_set.as_ref();
        let sets = self.scene.meshes.iter().map(|m| &m.uv_sets);
        sets.filter(|_| !name.is_empty())
            .find_map(|sets| sets.iter().position(|s| s.name.as_ref() == name))
    }

    fn add(&mut self, texture: &Texture) -> Option<usize> {
        self.transformed += usize::from(texture.has_uv_transform);
        let file = texture.file_textures.first()?;
        if texture.type_ != TextureType::File {
            self.unread += 1;
        }
        let source = self.image(file)?;
        let wrap = |mode: WrapMode| {
            if mode == WrapMode::Clamp {
                CLAMP
            } else {
                REPEAT
            }
        };
        let sampler = json!({ "wrapS": wrap(file.wrap_u), "wrapT": wrap(file.wrap_v) });
        let sampler = self.doc.out.add("samplers", sampler);
        Some(
            self.doc
                .out
                .add("textures", json!({ "source": source, "sampler": sampler })),
        )
    }

    /// An image, embedded in the document: results may be written into another folder.
    fn image(&mut self, texture: &Texture) -> Option<usize> {
        let name = texture.element.name.as_ref();
        let place = quoted("texture", name);
        let (bytes, what) = match texture.content.is_empty() {
            false => (texture.content.to_vec(), "the embedded image".to_owned()),
            true => {
                let file = file_of(texture);
                let what = format!("the image '{}'", file.escape_debug());
                let Some(bytes) = self.read(&file) else {
                    let message = format!(
                        "{what} of {place} is not in the folder of the file; it was skipped"
                    );
                    self.doc.warn("image_missing", message);
                    return None;
                };
                (bytes, what)
            }
        };
        let Some(kind) = kind_of(&bytes) else {
            let message =
                format!("{what} of {place} is neither PNG, JPEG, WebP nor KTX2; it was skipped");
            self.doc.warn("image_format", message);
            return None;
        };
        let known = self.images.get(&bytes).copied();
        Some(known.unwrap_or_else(|| {
            let view = self.doc.out.view(&bytes);
            let image = json!({ "name": name, "mimeType": kind, "bufferView": view });
            let index = self.doc.out.add("images", image);
            self.images.insert(bytes, index);
            index
        }))
    }

    /// A file below the folder of the FBX file, or of the same name in that folder.
    fn read(&self, file: &str) -> Option<Vec<u8>> {
        let folders = Folders::from(self.base_dir?);
        let beside = file.rsplit('/').next().unwrap_or_default();
        let mut found = [file, beside]
            .into_iter()
            .filter_map(|f| folders.find(f).ok());
        crate::read_bytes(&found.next()?).ok()
    }
}

/// The file of a texture, with slashes.
fn file_of(texture: &Texture) -> String {
    let relative = texture.relative_filename.as_ref();
    let name = if relative.is_empty() {
        texture.filename.as_ref()
    } else {
        relative
    };
    name.replace('\\', "/")
}

fn number(map: &MaterialMap) -> Option<f64> {
    let x = map.value_vec4.x;
    (map.has_value && x.is_finite()).then_some(x)
}

fn color(map: &MaterialMap) -> Option<[f64; 3]> {
    let v = &map.value_vec4;
    let color = match map.value_components {
        1 => [v.x; 3],
        _ => [v.x, v.y, v.z],
    };
    (map.has_value && color.iter().all(|c| c.is_finite())).then_some(color)
}

fn rgba([r, g, b]: [f64; 3], alpha: f64) -> [f64; 4] {
    [r, g, b, alpha].map(|c| c.clamp(0.0, 1.0))
}

fn opacity_of(m: &Material) -> f64 {
    color(&m.pbr.opacity).map_or(1.0, |c| c.iter().sum::<f64>() / 3.0)
}

/// MIME type of an image by its first bytes.
fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let kinds = [
        (bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "image/png"),
        (bytes.starts_with(b"\xff\xd8\xff"), "image/jpeg"),
        (bytes.starts_with(b"\xabKTX 20\xbb"), "image/ktx2"),
        (is_webp, "image/webp"),
    ];
    kinds.into_iter().find(|k| k.0).map(|k| k.1)
}
