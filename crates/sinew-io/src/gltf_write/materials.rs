//! Copies materials, textures, samplers and images of the source file, to keep the look of the character.

use super::GlbSource;
use super::layout::Document;
use super::targets::Appended;
use crate::fault::warning;
use crate::gltf::read::named_file;
use crate::{Folders, IoError, read_bytes};
use base64::Engine;
use serde_json::{Map, Value, json};
use sinew_geom::Warning;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A document that takes the bytes of images.
pub(super) trait Views {
    /// Index of a new view.
    fn image_view(&mut self, bytes: Vec<u8>) -> usize;
}

impl Views for Document {
    fn image_view(&mut self, bytes: Vec<u8>) -> usize {
        self.bytes(bytes)
    }
}

impl Views for Appended<'_> {
    fn image_view(&mut self, bytes: Vec<u8>) -> usize {
        self.view(&bytes)
    }
}

/// Copies by source index; `None` for entries that cannot be copied.
pub(super) struct MaterialCopier<'a> {
    source: Option<&'a GlbSource>,
    /// By material and number of texture coordinate sets. Textures that need more sets are left out.
    by_material: BTreeMap<(usize, usize), Option<usize>>,
    by_texture: BTreeMap<u64, Option<usize>>,
    by_sampler: BTreeMap<u64, Option<usize>>,
    by_image: BTreeMap<u64, Option<usize>>,
    materials: Vec<Value>,
    textures: Vec<Value>,
    samplers: Vec<Value>,
    images: Vec<Value>,
    extensions: BTreeSet<String>,
}

impl<'a> MaterialCopier<'a> {
    pub(super) fn new(source: Option<&'a GlbSource>) -> Self {
        Self {
            source,
            by_material: BTreeMap::new(),
            by_texture: BTreeMap::new(),
            by_sampler: BTreeMap::new(),
            by_image: BTreeMap::new(),
            materials: Vec::new(),
            textures: Vec::new(),
            samplers: Vec::new(),
            images: Vec::new(),
            extensions: BTreeSet::new(),
        }
    }

    /// Index of the copy of a material, for a mesh with `uv_sets` texture coordinate sets.
    pub(super) fn material(
        &mut self,
        index: usize,
        uv_sets: usize,
        document: &mut impl Views,
        warnings: &mut Vec<Warning>,
    ) -> Option<usize> {
        if let Some(known) = self.by_material.get(&(index, uv_sets)) {
            return *known;
        }
        let source = self.source?;
        let found = source.json["materials"]
            .get(index)
            .filter(|m| m.is_object());
        let copy = found.map(|material| {
            let mut material = material.clone();
            self.copy_textures(&mut material, uv_sets, document, warnings);
            collect_extensions(&material, &mut self.extensions);
            self.materials.push(material);
            self.materials.len() - 1
        });
        if copy.is_none() {
            let message = format!(
                "the source file has no material {index}; the part is written without a material"
            );
            warnings.push(warning("material_missing", message));
        }
        self.by_material.insert((index, uv_sets), copy);
        copy
    }

    /// True if a copied material reads tangents: for a normal map, or for anisotropy.
    pub(super) fn reads_tangents(&self, copy: usize) -> bool {
        self.materials.get(copy).is_some_and(reads_tangents)
    }

    /// Renumbers all texture slots in `value`. Removes slots without a usable texture.
    fn copy_textures(
        &mut self,
        value: &mut Value,
        uv_sets: usize,
        document: &mut impl Views,
        warnings: &mut Vec<Warning>,
    ) {
        let Some(object) = value.as_object_mut() else {
            return;
        };
        let mut removed = Vec::new();
        for (key, child) in object.iter_mut().filter(|(key, _)| *key != "extras") {
            let is_slot = key.ends_with("Texture") && child["index"].is_u64();
            if !is_slot {
                self.copy_textures(child, uv_sets, document, warnings);
                continue;
            }
            let set = child["extensions"]["KHR_texture_transform"]["texCoord"]
                .as_u64()
                .or(child["texCoord"].as_u64())
                .unwrap_or(0);
            let old = child["index"].as_u64().filter(|_| set < uv_sets as u64);
            match old.and_then(|t| self.texture(t, document, warnings)) {
                Some(new) => child["index"] = new.into(),
                None => removed.push(key.clone()),
            }
        }
        for key in removed {
            warnings.push(warning(
                "texture_dropped",
                format!(
                    "{key} is left out: it has no image, or the mesh lacks its texture coordinates"
                ),
            ));
            object.shift_remove(&key);
        }
    }

    fn texture(
        &mut self,
        index: u64,
        document: &mut impl Views,
        warnings: &mut Vec<Warning>,
    ) -> Option<usize> {
        if let Some(known) = self.by_texture.get(&index) {
            return *known;
        }
        let mut texture = entry(self.source?, "textures", index)?.clone();
        let mut has_image = false;
        let mut image = |this: &mut Self, holder: &mut Map<String, Value>| {
            if let Some(old) = holder.get("source").and_then(Value::as_u64) {
                match this.image(old, document, warnings) {
                    Some(new) => {
                        holder.insert("source".into(), new.into());
                        has_image = true;
                    }
                    None => drop(holder.shift_remove("source")),
                }
            }
        };
        if let Some(object) = texture.as_object_mut() {
            image(self, object);
        }
        if let Some(extensions) = texture["extensions"].as_object_mut() {
            extensions
                .values_mut()
                .filter_map(Value::as_object_mut)
                .for_each(|e| image(self, e));
            extensions.retain(|_, e| e.get("source").is_some());
        }
        if texture["extensions"].as_object().is_none_or(Map::is_empty)
            && let Some(object) = texture.as_object_mut()
        {
            object.shift_remove("extensions");
        }
        if let Some(sampler) = texture.get("sampler").and_then(Value::as_u64) {
            match self.sampler(sampler) {
                Some(new) => texture["sampler"] = new.into(),
                None => drop(
                    texture
                        .as_object_mut()
                        .and_then(|t| t.shift_remove("sampler")),
                ),
            }
        }
        let copy = has_image.then(|| {
            collect_extensions(&texture, &mut self.extensions);
            self.textures.push(texture);
            self.textures.len() - 1
        });
        self.by_texture.insert(index, copy);
        copy
    }

    fn sampler(&mut self, index: u64) -> Option<usize> {
        if let Some(known) = self.by_sampler.get(&index) {
            return *known;
        }
        let sampler = entry(self.source?, "samplers", index)?.clone();
        self.samplers.push(sampler);
        self.by_sampler.insert(index, Some(self.samplers.len() - 1));
        Some(self.samplers.len() - 1)
    }

    fn image(
        &mut self,
        index: u64,
        document: &mut impl Views,
        warnings: &mut Vec<Warning>,
    ) -> Option<usize> {
        if let Some(known) = self.by_image.get(&index) {
            return *known;
        }
        let source = self.source?;
        let image = entry(source, "images", index)?;
        let copy = match image_bytes(source, image) {
            Ok((bytes, kind)) => {
                let mut copy = json!({});
                if let Some(name) = image.get("name") {
                    copy["name"] = name.clone();
                }
                copy["mimeType"] = kind.into();
                copy["bufferView"] = document.image_view(bytes).into();
                self.images.push(copy);
                Some(self.images.len() - 1)
            }
            Err(why) => {
                warnings.push(warning(
                    "image_missing",
                    format!("image {index} is left out: {why}"),
                ));
                None
            }
        };
        self.by_image.insert(index, copy);
        copy
    }

    /// Adds the copies to the document, and the names of extensions, of which `required` are those of the geometry.
    pub(super) fn finish(mut self, root: &mut Value, required: &[&str]) {
        let lists = [
            ("materials", self.materials),
            ("textures", self.textures),
            ("samplers", self.samplers),
            ("images", self.images),
        ];
        for (key, list) in lists {
            if !list.is_empty() {
                root[key] = list.into();
            }
        }
        self.extensions
            .extend(required.iter().map(|&e| e.to_owned()));
        if self.extensions.is_empty() {
            return;
        }
        let in_source = self
            .source
            .and_then(|s| s.json["extensionsRequired"].as_array());
        let is_required = |e: &&String| {
            required.contains(&e.as_str())
                || in_source.is_some_and(|r| r.iter().any(|x| x == e.as_str()))
        };
        let required: Vec<&String> = self.extensions.iter().filter(is_required).collect();
        if !required.is_empty() {
            root["extensionsRequired"] = json!(required);
        }
        root["extensionsUsed"] = json!(self.extensions);
    }
}

/// Normal maps are `normalTexture` and, in extensions, others with a name of this ending, such as `clearcoatNormalTexture`.
fn reads_tangents(material: &Value) -> bool {
    let is_map = |key: &str| key.ends_with("ormalTexture") || key == "KHR_materials_anisotropy";
    let Some(object) = material.as_object() else {
        return false;
    };
    let mut all = object.iter().filter(|(key, _)| *key != "extras");
    all.any(|(key, child)| is_map(key) || reads_tangents(child))
}

fn entry<'s>(source: &'s GlbSource, list: &str, index: u64) -> Option<&'s Value> {
    let index = usize::try_from(index).ok()?;
    source.json[list].get(index).filter(|v| v.is_object())
}

fn collect_extensions(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, child) in object.iter().filter(|(key, _)| *key != "extras") {
                if let (true, Some(extensions)) = (key == "extensions", child.as_object()) {
                    out.extend(extensions.keys().cloned());
                }
                collect_extensions(child, out);
            }
        }
        Value::Array(list) => list.iter().for_each(|child| collect_extensions(child, out)),
        _ => {}
    }
}

/// Bytes and MIME type of an image, or why it cannot be read.
pub(super) fn image_bytes(source: &GlbSource, image: &Value) -> Result<(Vec<u8>, String), String> {
    let bytes = match (image["bufferView"].as_u64(), image["uri"].as_str()) {
        (Some(view), _) => view_bytes(source, view)
            .ok_or("its buffer view is outside the file")?
            .to_vec(),
        (None, Some(uri)) => match uri.strip_prefix("data:") {
            Some(data) => {
                let (_, text) = data
                    .split_once(";base64,")
                    .ok_or("its data URI is not base64")?;
                let engine = base64::engine::general_purpose::STANDARD;
                engine
                    .decode(text.trim())
                    .map_err(|e| format!("its data URI is damaged: {e}"))?
            }
            None => file_bytes(&source.base_dir, uri)?,
        },
        (None, None) => return Err("it has neither buffer view nor URI".into()),
    };
    let kind = mime_type(&bytes)
        .map(str::to_owned)
        .or_else(|| image["mimeType"].as_str().map(str::to_owned));
    kind.map(|kind| (bytes, kind))
        .ok_or_else(|| "it is neither PNG, JPEG, WebP nor KTX2".into())
}

fn view_bytes(source: &GlbSource, view: u64) -> Option<&[u8]> {
    let view = entry(source, "bufferViews", view)?;
    let number = |key: &str| usize::try_from(view[key].as_u64().unwrap_or(0)).ok();
    let start = number("byteOffset")?;
    let end = start.checked_add(number("byteLength")?)?;
    source.buffers.get(number("buffer")?)?.get(start..end)
}

/// A file inside the folder of the source. Links out of the folder are an error.
fn file_bytes(folder: &Path, uri: &str) -> Result<Vec<u8>, String> {
    let name = named_file(uri).map_err(|found| format!("{found}: '{}'", uri.escape_debug()))?;
    let read = Folders::from(folder)
        .find(&name)
        .and_then(|path| read_bytes(&path));
    read.map_err(|e| match e {
        IoError::Outside { name, .. } => {
            format!(
                "'{}' is outside the folder of the file",
                name.escape_debug()
            )
        }
        other => other.to_string(),
    })
}

fn mime_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if bytes.starts_with(b"\xabKTX 20\xbb") {
        Some("image/ktx2")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}
