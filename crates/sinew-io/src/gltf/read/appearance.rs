//! Materials, images and cameras, read for rendering.

use super::{GltfSource, uri};
use crate::IoError;
use crate::fault::{malformed, warning};
use serde_json::Value;
use sinew_geom::{
    AlphaMode, Appearance, EncodedImage, ImageFormat, Material, Projection, SceneCamera, Texture,
    Warning, Wrap,
};

/// Reads the materials, images and cameras of a file, for rendering. Leaves out with a warning: images that are neither
/// PNG nor JPEG, and external images that do not exist.
///
/// # Errors
/// [`IoError`] with the location of invalid data.
pub fn read_appearance(source: &GltfSource) -> Result<(Appearance, Vec<Warning>), IoError> {
    let mut reader = Reader {
        source,
        warnings: Vec::new(),
    };
    let images = reader.images()?;
    let materials = reader.list("materials", Reader::material)?;
    let cameras = reader.cameras()?;
    let appearance = Appearance {
        materials,
        images,
        cameras,
    };
    Ok((appearance, reader.warnings))
}

struct Reader<'a> {
    source: &'a GltfSource,
    warnings: Vec<Warning>,
}

/// First bytes of images.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff";

/// Sampler values of glTF.
const NEAREST: u64 = 9728;
const CLAMP_TO_EDGE: u64 = 33071;
const MIRRORED_REPEAT: u64 = 33648;

impl Reader<'_> {
    fn malformed(&self, location: &str, found: impl Into<String>, expected: &str) -> IoError {
        malformed(&self.source.path, location, found, expected)
    }

    fn warn(&mut self, code: &'static str, message: impl Into<String>) {
        self.warnings.push(warning(code, message));
    }

    fn count(&self, list: &str) -> usize {
        self.source.json[list].as_array().map_or(0, Vec::len)
    }

    /// Each object of a list at the root.
    fn list<T>(
        &mut self,
        name: &str,
        read: impl Fn(&mut Self, &str, &Value) -> Result<T, IoError>,
    ) -> Result<Vec<T>, IoError> {
        let source = self.source;
        let items = source.json[name].as_array().map_or(&[][..], Vec::as_slice);
        let mut out = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            out.push(read(self, &format!("{name}[{i}]"), item)?);
        }
        Ok(out)
    }

    /// An optional number.
    fn number(
        &self,
        location: &str,
        value: &Value,
        key: &str,
        default: f32,
    ) -> Result<f32, IoError> {
        match &value[key] {
            Value::Null => Ok(default),
            given => single(given).ok_or_else(|| {
                self.malformed(&format!("{location}.{key}"), given.to_string(), "a number")
            }),
        }
    }

    /// Optional numbers.
    fn numbers<const N: usize>(
        &self,
        location: &str,
        value: &Value,
        key: &str,
        default: [f32; N],
    ) -> Result<[f32; N], IoError> {
        let given = &value[key];
        if given.is_null() {
            return Ok(default);
        }
        let numbers = given.as_array().into_iter().flatten().map(single);
        let numbers: Option<Vec<f32>> = numbers.collect();
        let wrong = || {
            let expected = format!("{N} numbers");
            self.malformed(&format!("{location}.{key}"), given.to_string(), &expected)
        };
        numbers
            .and_then(|n| <[f32; N]>::try_from(n).ok())
            .ok_or_else(wrong)
    }

    /// An index into a list of `count`.
    fn index(
        &self,
        location: &str,
        value: &Value,
        key: &str,
        count: usize,
    ) -> Result<Option<usize>, IoError> {
        let given = &value[key];
        if given.is_null() {
            return Ok(None);
        }
        let index = given.as_u64().and_then(|i| usize::try_from(i).ok());
        match index.filter(|&i| i < count) {
            Some(index) => Ok(Some(index)),
            None => {
                let expected = format!("an index below {count}");
                Err(self.malformed(&format!("{location}.{key}"), given.to_string(), &expected))
            }
        }
    }

    fn material(&mut self, location: &str, value: &Value) -> Result<Material, IoError> {
        // Older files use the specular-glossiness model. Its diffuse colour is the base colour of non-metals.
        let metallic = ("pbrMetallicRoughness", "baseColor");
        let glossy = ("extensions.KHR_materials_pbrSpecularGlossiness", "diffuse");
        let old = &value["extensions"]["KHR_materials_pbrSpecularGlossiness"];
        let ((model, prefix), surface) = if old.is_object() {
            (glossy, old)
        } else {
            (metallic, &value["pbrMetallicRoughness"])
        };
        let place_of_surface = format!("{location}.{model}");
        let factor = format!("{prefix}Factor");
        let base_color = self.numbers(&place_of_surface, surface, &factor, [1.0; 4])?;
        let key = format!("{prefix}Texture");
        let texture = &surface[key.as_str()];
        let base_color_texture = if texture.is_null() {
            None
        } else {
            self.texture(&format!("{place_of_surface}.{key}"), texture)?
        };
        let alpha = match value["alphaMode"].as_str() {
            None | Some("OPAQUE") => AlphaMode::Opaque,
            Some("MASK") => AlphaMode::Mask(self.number(location, value, "alphaCutoff", 0.5)?),
            Some("BLEND") => AlphaMode::Blend,
            Some(other) => {
                let location = format!("{location}.alphaMode");
                return Err(self.malformed(&location, other, "OPAQUE, MASK or BLEND"));
            }
        };
        Ok(Material {
            name: value["name"].as_str().unwrap_or_default().to_owned(),
            base_color: base_color.map(|c| c.clamp(0.0, 1.0)),
            base_color_texture,
            alpha,
            double_sided: value["doubleSided"].as_bool().unwrap_or(false),
        })
    }

    fn texture(&mut self, location: &str, value: &Value) -> Result<Option<Texture>, IoError> {
        let Some(texture) = self.index(location, value, "index", self.count("textures"))? else {
            return Err(self.malformed(location, "no index", "the index of a texture"));
        };
        let place_of_texture = format!("textures[{texture}]");
        let texture = &self.source.json["textures"][texture];
        let images = self.count("images");
        let Some(image) = self.index(&place_of_texture, texture, "source", images)? else {
            let message = format!(
                "{place_of_texture} has an image only in an extension that Sinew does not read; it is not shown"
            );
            self.warn("texture_not_shown", message);
            return Ok(None);
        };
        let samplers = self.count("samplers");
        let sampler = self.index(&place_of_texture, texture, "sampler", samplers)?;
        let sampler = sampler.map_or(&Value::Null, |s| &self.source.json["samplers"][s]);
        let wrap = |key: &str| match sampler[key].as_u64() {
            Some(CLAMP_TO_EDGE) => Wrap::Clamp,
            Some(MIRRORED_REPEAT) => Wrap::Mirrored,
            _ => Wrap::Repeat,
        };
        let transform = &value["extensions"]["KHR_texture_transform"];
        let set = |value: &Value| value["texCoord"].as_u64();
        let uv_set = set(transform).or(set(value)).unwrap_or(0);
        let location = format!("{location}.extensions.KHR_texture_transform");
        Ok(Some(Texture {
            image,
            uv_set: usize::try_from(uv_set).unwrap_or(usize::MAX),
            image_from_uv: self.image_from_uv(&location, transform)?,
            wrap: [wrap("wrapS"), wrap("wrapT")],
            nearest: sampler["magFilter"].as_u64() == Some(NEAREST),
        }))
    }

    /// Scales, then rotates counter-clockwise as seen in the image, then translates.
    fn image_from_uv(&self, location: &str, transform: &Value) -> Result<[[f32; 3]; 2], IoError> {
        let [x, y] = self.numbers(location, transform, "offset", [0.0; 2])?;
        let [sx, sy] = self.numbers(location, transform, "scale", [1.0; 2])?;
        let (sine, cosine) = self.number(location, transform, "rotation", 0.0)?.sin_cos();
        Ok([[cosine * sx, sine * sy, x], [-sine * sx, cosine * sy, y]])
    }

    fn images(&mut self) -> Result<Vec<Option<EncodedImage>>, IoError> {
        self.list("images", |reader, location, value| {
            let (bytes, file) = match (&value["uri"], &value["bufferView"]) {
                (Value::String(text), _) => {
                    let base = reader.source.base_dir.as_deref();
                    match uri::read(&reader.source.path, location, text, base) {
                        Ok(buffer) => (buffer.bytes().to_vec(), text.as_str()),
                        Err(error @ IoError::Malformed { .. }) => return Err(error),
                        Err(error) => {
                            reader.warn("image_missing", format!("{location}: {error}"));
                            return Ok(None);
                        }
                    }
                }
                _ => (reader.view(location, value)?, ""),
            };
            let name = value["name"].as_str();
            let of_file = Some(file).filter(|f| !f.starts_with("data:"));
            let format = if bytes.starts_with(PNG) {
                ImageFormat::Png
            } else if bytes.starts_with(JPEG) {
                ImageFormat::Jpeg
            } else {
                let message =
                    format!("{location} is neither PNG nor JPEG; its textures are not shown; convert the image to PNG or JPEG");
                reader.warn("image_not_shown", message);
                return Ok(None);
            };
            Ok(Some(EncodedImage {
                name: name.or(of_file).unwrap_or_default().to_owned(),
                format,
                bytes,
            }))
        })
    }

    /// The bytes of an image in a buffer view.
    fn view(&self, location: &str, image: &Value) -> Result<Vec<u8>, IoError> {
        let views = self.count("bufferViews");
        let Some(index) = self.index(location, image, "bufferView", views)? else {
            return Err(self.malformed(location, "no image", "a uri or a bufferView"));
        };
        if let Some(Some(bytes)) = self.source.decompressed.get(index) {
            return Ok(bytes.to_vec());
        }
        let view = &self.source.json["bufferViews"][index];
        let location = format!("bufferViews[{index}]");
        let buffer = self.index(&location, view, "buffer", self.source.buffers.len())?;
        let bytes = buffer.and_then(|b| self.source.buffers[b].as_ref());
        let whole = |key: &str| view[key].as_u64().and_then(|n| usize::try_from(n).ok());
        let (first, length) = (whole("byteOffset").unwrap_or(0), whole("byteLength"));
        bytes
            .zip(length)
            .and_then(|(b, n)| b.bytes().get(first..first.checked_add(n)?))
            .map(<[u8]>::to_vec)
            .ok_or_else(|| self.malformed(&location, view.to_string(), "a range inside its buffer"))
    }

    /// Cameras of nodes. A camera that two nodes use gives two cameras.
    fn cameras(&mut self) -> Result<Vec<SceneCamera>, IoError> {
        let kinds = self.list("cameras", |reader, location, value| {
            let name = value["name"].as_str().unwrap_or_default().to_owned();
            Ok((name, reader.projection(location, value)?))
        })?;
        let mut out = Vec::new();
        let nodes = self.count("nodes").min(self.source.rig_node_of_node.len());
        for n in 0..nodes {
            let node = &self.source.json["nodes"][n];
            let location = format!("nodes[{n}]");
            let Some(camera) = self.index(&location, node, "camera", kinds.len())? else {
                continue;
            };
            let (name, projection) = &kinds[camera];
            let of_node = node["name"].as_str().unwrap_or_default();
            let name = if name.is_empty() { of_node } else { name };
            out.push(SceneCamera {
                name: name.to_owned(),
                node: self.source.rig_node_of_node[n],
                projection: *projection,
            });
        }
        Ok(out)
    }

    fn projection(&self, location: &str, value: &Value) -> Result<Projection, IoError> {
        let above_zero = |location: &str, value: &Value, key: &str| {
            let given = single(&value[key]).filter(|&n| n > 0.0);
            given.ok_or_else(|| {
                let found = value[key].to_string();
                self.malformed(
                    &format!("{location}.{key}"),
                    found,
                    "a number greater than 0",
                )
            })
        };
        let optional = |location: &str, value: &Value, key: &str| match &value[key] {
            Value::Null => Ok(None),
            _ => above_zero(location, value, key).map(Some),
        };
        match value["type"].as_str() {
            Some("perspective") => {
                let (location, value) = (format!("{location}.perspective"), &value["perspective"]);
                let fov_y = above_zero(&location, value, "yfov")?;
                if fov_y >= std::f32::consts::PI {
                    let location = format!("{location}.yfov");
                    return Err(self.malformed(&location, fov_y.to_string(), "less than pi"));
                }
                Ok(Projection::Perspective {
                    fov_y,
                    aspect: optional(&location, value, "aspectRatio")?,
                    near: above_zero(&location, value, "znear")?,
                    far: optional(&location, value, "zfar")?,
                })
            }
            Some("orthographic") => {
                let (location, value) =
                    (format!("{location}.orthographic"), &value["orthographic"]);
                let half = |key| above_zero(&location, value, key);
                Ok(Projection::Orthographic {
                    half_size: [half("xmag")?, half("ymag")?],
                    near: self.number(&location, value, "znear", 0.0)?,
                    far: above_zero(&location, value, "zfar")?,
                })
            }
            other => {
                let found = other.unwrap_or("no type").to_owned();
                Err(self.malformed(
                    &format!("{location}.type"),
                    found,
                    "perspective or orthographic",
                ))
            }
        }
    }
}

/// A number that is finite in single precision.
fn single(value: &Value) -> Option<f32> {
    value.as_f64().map(|n| n as f32).filter(|n| n.is_finite())
}
