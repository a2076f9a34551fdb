//! Accessors: typed reads with checked bounds. Compares each count with the file size before memory is allocated.

use super::document::Document;
use crate::IoError;
use bytemuck::Pod;
use gltf_json::accessor::{ComponentType, Type};
use gltf_json::validation::Checked;
use std::borrow::Cow;

/// Accessors without stored bytes need no space in the file. Thus their element count has its own limit.
const MAX_WITHOUT_BYTES: usize = 1 << 22;

/// An accessor whose byte ranges are checked.
#[derive(Debug)]
pub(super) struct Accessor<'a> {
    doc: &'a Document,
    location: String,
    pub(super) component: ComponentType,
    /// Numbers per element.
    pub(super) width: usize,
    normalized: bool,
    pub(super) count: usize,
    /// Bytes from the first element; `None` means zeros.
    packed: Option<Packed<'a>>,
    sparse: Option<Sparse<'a>>,
}

#[derive(Clone, Debug)]
struct Packed<'a> {
    bytes: Cow<'a, [u8]>,
    stride: usize,
    count: usize,
}

#[derive(Debug)]
struct Sparse<'a> {
    indices: Vec<u32>,
    values: Packed<'a>,
}

/// A number as glTF stores it.
trait Component: Pod {
    fn read(bytes: &[u8]) -> Self;
    /// Converts without normalisation.
    fn plain(self) -> f32;
    /// Normalised: as a fraction of the largest value.
    fn fraction(self) -> f32;
}

macro_rules! component {
    ($type:ty, $plain:expr, $fraction:expr) => {
        impl Component for $type {
            #[inline]
            fn read(bytes: &[u8]) -> Self {
                let mut raw = [0; size_of::<$type>()];
                raw.copy_from_slice(&bytes[..size_of::<$type>()]);
                Self::from_le_bytes(raw)
            }
            #[inline]
            fn plain(self) -> f32 {
                ($plain)(self)
            }
            #[inline]
            fn fraction(self) -> f32 {
                ($fraction)(self)
            }
        }
    };
}
component!(i8, f32::from, |v| (f32::from(v) / 127.0).max(-1.0));
component!(u8, f32::from, |v| f32::from(v) / 255.0);
component!(i16, f32::from, |v| (f32::from(v) / 32767.0).max(-1.0));
component!(u16, f32::from, |v| f32::from(v) / 65535.0);
component!(u32, |v| v as f32, |v| (f64::from(v) / f64::from(u32::MAX))
    as f32);
component!(f32, |v| v, |v| v);

impl Document {
    /// Finds and checks accessor `index`. `location` is that of the reference, for errors.
    pub(super) fn accessor(&self, index: usize, location: &str) -> Result<Accessor<'_>, IoError> {
        let Some(json) = self.root.accessors.get(index) else {
            return Err(self.no_such(location, "accessors", index, self.root.accessors.len()));
        };
        let invalid = |what: &str, expected: &str| {
            self.malformed(
                format!("accessors[{index}].{what}"),
                "an invalid value",
                expected,
            )
        };
        let Checked::Valid(component) = json.component_type else {
            return Err(invalid(
                "componentType",
                "5120, 5121, 5122, 5123, 5125 or 5126",
            ));
        };
        let component = component.0;
        let Checked::Valid(kind) = json.type_ else {
            return Err(invalid("type", "SCALAR, VEC2, VEC3, VEC4 or MAT4"));
        };
        let width = width_of(kind);
        if matches!(kind, Type::Mat2 | Type::Mat3) && component.size() < 4 {
            return Err(IoError::Unsupported {
                path: self.path.clone(),
                location: format!("accessors[{index}]"),
                feature: "a matrix of 8-bit or 16-bit integers".into(),
                help: "export it as floats".into(),
            });
        }
        let size = component.size() * width;
        let count = usize::try_from(json.count.0).unwrap_or(usize::MAX);
        let packed = match json.buffer_view {
            None => None,
            Some(view) => Some(self.packed(
                &format!("accessors[{index}]"),
                view.value(),
                json.byte_offset.unwrap_or_default().0,
                size,
                count,
                true,
            )?),
        };
        if packed.is_none() && count > MAX_WITHOUT_BYTES {
            return Err(self.malformed(
                format!("accessors[{index}].count"),
                format!("{count} elements and no bufferView"),
                format!("at most {MAX_WITHOUT_BYTES}"),
            ));
        }
        let sparse = match &json.sparse {
            None => None,
            Some(s) => Some(self.sparse(index, s, size, count)?),
        };
        Ok(Accessor {
            doc: self,
            location: location.to_owned(),
            component,
            width,
            normalized: json.normalized,
            count,
            packed,
            sparse,
        })
    }

    fn packed(
        &self,
        location: &str,
        view: usize,
        offset: u64,
        size: usize,
        count: usize,
        may_stride: bool,
    ) -> Result<Packed<'_>, IoError> {
        let view_bytes = self.view(view, location)?;
        let stride = match view_bytes.stride.filter(|_| may_stride) {
            Some(s) if s < size => {
                return Err(self.malformed(
                    format!("bufferViews[{view}].byteStride"),
                    format!("{s}"),
                    format!("at least {size}, the bytes of one element of {location}"),
                ));
            }
            Some(s) => s,
            None => size,
        };
        let there = view_bytes.bytes.len();
        // The last element need not be followed by padding up to the stride.
        let needed = match count {
            0 => Some(0),
            n => (n - 1)
                .checked_mul(stride)
                .and_then(|b| b.checked_add(size)),
        };
        let bytes = usize::try_from(offset)
            .ok()
            .and_then(|o| view_bytes.bytes.get(o..o.checked_add(needed?)?));
        let Some(bytes) = bytes else {
            return Err(self.malformed(
                location,
                format!("{count} elements of {size} bytes, stride {stride}, at byte {offset}"),
                format!("at most the {there} bytes of bufferViews[{view}]"),
            ));
        };
        Ok(Packed {
            bytes: Cow::Borrowed(bytes),
            stride,
            count,
        })
    }

    fn sparse<'a>(
        &'a self,
        index: usize,
        json: &gltf_json::accessor::sparse::Sparse,
        size: usize,
        count: usize,
    ) -> Result<Sparse<'a>, IoError> {
        let location = format!("accessors[{index}].sparse");
        let entries = usize::try_from(json.count.0).unwrap_or(usize::MAX);
        if entries > count {
            return Err(self.malformed(
                format!("{location}.count"),
                format!("{entries}"),
                format!("at most the {count} elements of the accessor"),
            ));
        }
        let Checked::Valid(kind) = json.indices.component_type else {
            return Err(self.malformed(
                format!("{location}.indices.componentType"),
                "an invalid value",
                "5121, 5123 or 5125",
            ));
        };
        let raw = self.packed(
            &format!("{location}.indices"),
            json.indices.buffer_view.value(),
            json.indices.byte_offset.0,
            kind.0.size(),
            entries,
            false,
        )?;
        let values = self.packed(
            &format!("{location}.values"),
            json.values.buffer_view.value(),
            json.values.byte_offset.0,
            size,
            entries,
            false,
        )?;
        let indices = unsigned(kind.0, &raw);
        let mut previous = None;
        for (k, &i) in indices.iter().enumerate() {
            if i as usize >= count || previous.is_some_and(|p| p >= i) {
                return Err(self.malformed(
                    format!("{location}.indices"),
                    format!("index {i} in entry {k}"),
                    format!("strictly increasing indices below {count}"),
                ));
            }
            previous = Some(i);
        }
        Ok(Sparse { indices, values })
    }
}

fn width_of(kind: Type) -> usize {
    match kind {
        Type::Scalar => 1,
        Type::Vec2 => 2,
        Type::Vec3 => 3,
        Type::Vec4 | Type::Mat2 => 4,
        Type::Mat3 => 9,
        Type::Mat4 => 16,
    }
}

/// Scalars of an unsigned type. Empty for other types, which callers exclude.
fn unsigned(component: ComponentType, packed: &Packed) -> Vec<u32> {
    match component {
        ComponentType::U8 => scalars::<u8>(packed).map(u32::from).collect(),
        ComponentType::U16 => scalars::<u16>(packed).map(u32::from).collect(),
        ComponentType::U32 => scalars::<u32>(packed).collect(),
        _ => Vec::new(),
    }
}

fn scalars<T: Component>(packed: &Packed) -> impl Iterator<Item = T> {
    packed.elements(size_of::<T>()).map(T::read)
}

impl Packed<'_> {
    /// Some elements of `size` bytes, one after another.
    fn rows(&self, rows: impl ExactSizeIterator<Item = usize>, size: usize) -> Self {
        let count = rows.len();
        let start = |row: usize| row * self.stride;
        let bytes = rows.flat_map(|r| &self.bytes[start(r)..start(r) + size]);
        Self {
            bytes: Cow::Owned(bytes.copied().collect()),
            stride: size,
            count,
        }
    }

    /// The bytes of each element.
    fn elements(&self, size: usize) -> impl Iterator<Item = &[u8]> {
        // `chunks` because the last element may lack its padding.
        self.bytes
            .chunks(self.stride)
            .take(self.count)
            .map(move |c| &c[..size])
    }

    /// Elements of `N` numbers, converted. One tight loop for each type and width.
    fn vectors<T: Component, const N: usize>(&self, convert: impl Fn(T) -> f32) -> Vec<[f32; N]> {
        let size = size_of::<T>() * N;
        let element =
            |c: &[u8]| std::array::from_fn(|k| convert(T::read(&c[k * size_of::<T>()..])));
        if self.stride == size {
            self.bytes.chunks_exact(size).map(element).collect()
        } else {
            self.elements(size).map(element).collect()
        }
    }

    /// Tightly packed floats are copied as they are.
    fn floats<const N: usize>(&self) -> Vec<[f32; N]> {
        if cfg!(target_endian = "little") && self.stride == N * 4 {
            let mut out = vec![[0.0; N]; self.count];
            bytemuck::cast_slice_mut::<_, u8>(&mut out).copy_from_slice(&self.bytes);
            return out;
        }
        self.vectors::<f32, N>(|v| v)
    }
}

impl Accessor<'_> {
    fn wrong(&self, found: String, expected: impl Into<String>) -> IoError {
        self.doc.malformed(self.location.as_str(), found, expected)
    }

    /// Several readers may share an accessor. An accessor without bytes needs no space in the file.
    fn spend(&self, element_bytes: usize) -> Result<(), IoError> {
        self.doc.spend(&self.location, self.count, element_bytes)
    }

    /// Selects the elements of some rows, in increasing order; all rows for `None`.
    pub(super) fn at(self, rows: Option<&[u32]>) -> Self {
        let Some(rows) = rows else {
            return self;
        };
        let size = self.component.size() * self.width;
        let packed = self.packed.as_ref();
        let packed = packed.map(|p| p.rows(rows.iter().map(|r| *r as usize), size));
        let sparse = self.sparse.as_ref().map(|s| {
            let entry = |row: &u32| s.indices.binary_search(row).ok();
            let found = (0_u32..).zip(rows.iter().map(entry));
            let found = found.filter_map(|(new, entry)| Some((new, entry?)));
            let (indices, entries): (Vec<u32>, Vec<usize>) = found.unzip();
            let values = s.values.rows(entries.into_iter(), size);
            Sparse { indices, values }
        });
        Self {
            count: rows.len(),
            packed,
            sparse,
            ..self
        }
    }

    /// Checks the number of elements.
    pub(super) fn expect_count(&self, count: usize, of: &str) -> Result<(), IoError> {
        if self.count == count {
            return Ok(());
        }
        Err(self.wrong(format!("{} elements", self.count), format!("{count}, {of}")))
    }

    fn expect_width(&self, width: usize) -> Result<(), IoError> {
        if self.width == width {
            return Ok(());
        }
        let found = format!("elements of {} numbers", self.width);
        Err(self.wrong(found, format!("{width} numbers")))
    }

    /// Floats, or integers converted to floats: fractions if the accessor is normalised.
    pub(super) fn vectors<const N: usize>(&self) -> Result<Vec<[f32; N]>, IoError> {
        self.expect_width(N)?;
        self.spend(N * 4)?;
        let mut out = match &self.packed {
            Some(packed) => self.convert::<N>(packed),
            None => vec![[0.0; N]; self.count],
        };
        if let Some(sparse) = &self.sparse {
            for (&i, value) in sparse.indices.iter().zip(self.convert::<N>(&sparse.values)) {
                out[i as usize] = value;
            }
        }
        self.check_finite(&out)?;
        Ok(out)
    }

    fn convert<const N: usize>(&self, packed: &Packed) -> Vec<[f32; N]> {
        macro_rules! typed {
            ($type:ty) => {
                if self.normalized {
                    packed.vectors::<$type, N>(Component::fraction)
                } else {
                    packed.vectors::<$type, N>(Component::plain)
                }
            };
        }
        match self.component {
            ComponentType::F32 => packed.floats(),
            ComponentType::I8 => typed!(i8),
            ComponentType::U8 => typed!(u8),
            ComponentType::I16 => typed!(i16),
            ComponentType::U16 => typed!(u16),
            ComponentType::U32 => typed!(u32),
        }
    }

    fn check_finite<const N: usize>(&self, values: &[[f32; N]]) -> Result<(), IoError> {
        if self.component != ComponentType::F32 {
            return Ok(());
        }
        const EXPONENT: u32 = 0x7F80_0000;
        let broken = |v: &f32| v.to_bits() & EXPONENT == EXPONENT;
        let flat: &[f32] = values.as_flattened();
        // Blocks without an early exit inside compile to vector code.
        let block = flat
            .chunks(1024)
            .position(|c| c.iter().fold(false, |any, v| any | broken(v)));
        let Some(block) = block else {
            return Ok(());
        };
        let first = flat[block * 1024..].iter().position(broken).unwrap_or(0) + block * 1024;
        Err(self.wrong(
            format!("{} in element {}", flat[first], first / N),
            "finite numbers",
        ))
    }

    /// All numbers in sequence, for any element width.
    pub(super) fn numbers(&self) -> Result<Vec<f32>, IoError> {
        Ok(match self.width {
            1 => self.vectors::<1>()?.into_flattened(),
            2 => self.vectors::<2>()?.into_flattened(),
            3 => self.vectors::<3>()?.into_flattened(),
            4 => self.vectors::<4>()?.into_flattened(),
            other => {
                return Err(self.wrong(format!("elements of {other} numbers"), "at most 4"));
            }
        })
    }

    /// 4x4 matrices of floats, by columns.
    pub(super) fn matrices(&self) -> Result<Vec<[f32; 16]>, IoError> {
        if self.component != ComponentType::F32 {
            return Err(self.wrong("matrices of integers".into(), "floats"));
        }
        self.vectors::<16>()
    }

    /// Vertex indices.
    pub(super) fn indices(&self) -> Result<Vec<u32>, IoError> {
        self.expect_width(1)?;
        let allowed = [ComponentType::U8, ComponentType::U16, ComponentType::U32];
        if !allowed.contains(&self.component) {
            return Err(self.wrong(
                format!("indices of type {:?}", self.component),
                "unsigned integers",
            ));
        }
        self.spend(4)?;
        let mut out = match &self.packed {
            Some(packed) => unsigned(self.component, packed),
            None => vec![0; self.count],
        };
        if let Some(sparse) = &self.sparse {
            let values = unsigned(self.component, &sparse.values);
            for (&i, v) in sparse.indices.iter().zip(values) {
                out[i as usize] = v;
            }
        }
        Ok(out)
    }

    /// Four joint indices per vertex.
    pub(super) fn joints(&self) -> Result<Vec<[u16; 4]>, IoError> {
        self.expect_width(4)?;
        let convert = |packed: &Packed| -> Option<Vec<[u16; 4]>> {
            match self.component {
                ComponentType::U8 => Some(
                    packed
                        .elements(4)
                        .map(|c| [c[0].into(), c[1].into(), c[2].into(), c[3].into()])
                        .collect(),
                ),
                ComponentType::U16 => Some(
                    packed
                        .elements(8)
                        .map(|c| std::array::from_fn(|k| u16::read(&c[2 * k..])))
                        .collect(),
                ),
                _ => None,
            }
        };
        let wrong = || {
            self.wrong(
                format!("joints of type {:?}", self.component),
                "unsigned bytes or shorts",
            )
        };
        self.spend(8)?;
        let mut out = match &self.packed {
            Some(packed) => convert(packed).ok_or_else(wrong)?,
            None => vec![[0; 4]; self.count],
        };
        if let Some(sparse) = &self.sparse {
            let values = convert(&sparse.values).ok_or_else(wrong)?;
            for (&i, v) in sparse.indices.iter().zip(values) {
                out[i as usize] = v;
            }
        }
        Ok(out)
    }
}
