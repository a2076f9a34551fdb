use crate::bytes::{put_f32s, put_u32s};
use crate::fault::cannot_write;
use crate::surface::srgb_color;
use crate::{AtomicFile, IoError, Surface};
use sinew_geom::{Attribute, Strands, THICKNESS};
use std::io::{self, Write};
use std::path::Path;

/// Encoding of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlyEncoding {
    /// Little-endian binary.
    #[default]
    Binary,
    /// Text. Floats are written exactly: reading gives the same bits.
    Ascii,
}

/// Options for PLY files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlyOptions {
    /// Text or binary.
    pub encoding: PlyEncoding,
    /// Stores colours as linear floats instead of sRGB bytes: exact, but few tools read them.
    pub float_colors: bool,
}

/// Writes surfaces to one PLY file, one after the other. Strand segments are written as edges. Normals, colours and
/// attributes that some surfaces lack are left out. Strand diameters ([`THICKNESS`]) are written if any strands have
/// them; other vertices get 0.
///
/// # Errors
/// [`IoError::Malformed`] if an array does not match its topology; [`IoError::Write`] if the file cannot be written.
pub fn write_ply(
    path: &Path,
    surfaces: &[Surface<'_>],
    options: PlyOptions,
) -> Result<(), IoError> {
    surfaces.iter().try_for_each(|s| s.check(path))?;
    let mut out = AtomicFile::create(path)?;
    let layout = Layout::of(surfaces, options);
    write_all(&mut out, surfaces, &layout, options).map_err(cannot_write(path))?;
    out.commit()
}

struct Layout<'a> {
    normals: bool,
    uvs: bool,
    colors: bool,
    /// Attributes that all surfaces have, and the thickness, with the names of their components.
    attributes: Vec<(&'a str, Vec<String>)>,
}

impl<'a> Layout<'a> {
    fn of(surfaces: &[Surface<'a>], options: PlyOptions) -> Self {
        let mut layout = Self {
            normals: surfaces.iter().all(|s| s.normals.is_some()),
            uvs: surfaces.iter().all(|s| s.uvs.is_some()),
            colors: surfaces.iter().all(|s| s.colors.is_some()),
            attributes: Vec::new(),
        };
        let mut taken = layout
            .properties(options)
            .into_iter()
            .map(|p| p.1)
            .collect::<Vec<_>>();
        let first = surfaces.first().and_then(|s| s.attributes);
        let first = first.into_iter().flatten();
        for (name, a) in first.filter(|(name, _)| *name != THICKNESS) {
            let fits = |s: &Surface<'_>| {
                let other = s.attributes.and_then(|m| m.get(name));
                other.is_some_and(|o| width(o) == width(a) && o.len() == s.positions.len())
            };
            let names = component_names(name, width(a));
            if surfaces.iter().all(fits) && !names.iter().any(|n| taken.contains(n)) {
                taken.extend(names.iter().cloned());
                layout.attributes.push((name, names));
            }
        }
        let is_free = !taken.iter().any(|n| n == THICKNESS);
        if is_free && surfaces.iter().any(|s| thickness(s).is_some()) {
            layout.attributes.push((THICKNESS, vec![THICKNESS.into()]));
        }
        layout
    }

    /// Type and name of each vertex property.
    fn properties(&self, options: PlyOptions) -> Vec<(&'static str, String)> {
        let color = if options.float_colors {
            "float"
        } else {
            "uchar"
        };
        let groups: [(bool, &'static str, &[&str]); 4] = [
            (true, "float", &["x", "y", "z"]),
            (self.normals, "float", &["nx", "ny", "nz"]),
            (self.uvs, "float", &["s", "t"]),
            (self.colors, color, &["red", "green", "blue", "alpha"]),
        ];
        let fixed = groups
            .into_iter()
            .filter(|g| g.0)
            .flat_map(|(_, kind, names)| names.iter().map(move |n| (kind, (*n).to_owned())));
        let own = self.attributes.iter().flat_map(|a| a.1.iter().cloned());
        fixed.chain(own.map(|n| ("float", n))).collect()
    }
}

/// The attribute [`THICKNESS`] of a surface, one number per vertex.
fn thickness<'a>(s: &Surface<'a>) -> Option<&'a Attribute> {
    let found = s.attributes?.get(THICKNESS)?;
    (width(found) == 1 && found.len() == s.positions.len()).then_some(found)
}

fn width(a: &Attribute) -> usize {
    match a {
        Attribute::Scalar(_) => 1,
        Attribute::Vec2(_) => 2,
        Attribute::Vec3(_) => 3,
        Attribute::Vec4(_) => 4,
    }
}

fn component_names(name: &str, width: usize) -> Vec<String> {
    let clean: String = name
        .chars()
        .map(|c| {
            if c.is_whitespace() || c.is_control() {
                '_'
            } else {
                c
            }
        })
        .collect();
    match (clean.as_str(), width) {
        ("velocity", 3) => ["vx", "vy", "vz"].map(String::from).to_vec(),
        (_, 1) => vec![clean],
        _ => ["x", "y", "z", "w"][..width]
            .iter()
            .map(|c| format!("{clean}_{c}"))
            .collect(),
    }
}

fn write_all(
    out: &mut AtomicFile,
    surfaces: &[Surface<'_>],
    layout: &Layout<'_>,
    options: PlyOptions,
) -> io::Result<()> {
    let format = match options.encoding {
        PlyEncoding::Binary => "binary_little_endian",
        PlyEncoding::Ascii => "ascii",
    };
    let vertices: usize = surfaces.iter().map(|s| s.positions.len()).sum();
    let faces: usize = surfaces.iter().map(Surface::face_count).sum();
    let longest = surfaces
        .iter()
        .flat_map(Surface::faces)
        .map(<[u32]>::len)
        .max();
    let byte_lengths = longest.unwrap_or(0) < 256;
    write!(out, "ply\nformat {format} 1.0\nelement vertex {vertices}\n")?;
    for (kind, name) in layout.properties(options) {
        writeln!(out, "property {kind} {name}")?;
    }
    if faces > 0 {
        let count = if byte_lengths { "uchar" } else { "uint" };
        write!(
            out,
            "element face {faces}\nproperty list {count} int vertex_indices\n"
        )?;
    }
    let edges = |s: &Surface<'_>| s.topology.strands().map_or(0, Strands::segment_count);
    let edges: usize = surfaces.iter().map(edges).sum();
    if edges > 0 {
        let properties = "property int vertex1\nproperty int vertex2";
        write!(out, "element edge {edges}\n{properties}\n")?;
    }
    out.write_all(b"end_header\n")?;
    for s in surfaces {
        write_vertices(out, s, layout, options)?;
    }
    let mut base = 0_usize;
    for s in surfaces {
        for face in s.faces() {
            write_face(out, face, base, byte_lengths, options.encoding)?;
        }
        base += s.positions.len();
    }
    write_edges(out, surfaces, options.encoding)
}

/// The segments of strands.
fn write_edges(
    out: &mut AtomicFile,
    surfaces: &[Surface<'_>],
    encoding: PlyEncoding,
) -> io::Result<()> {
    let mut base = 0_usize;
    for s in surfaces {
        for ends in s.topology.strands().into_iter().flat_map(Strands::segments) {
            let [a, b] = ends.map(|v| (base + v as usize) as u32);
            match encoding {
                PlyEncoding::Ascii => writeln!(out, "{a} {b}")?,
                PlyEncoding::Binary => put_u32s(out, &[a, b])?,
            }
        }
        base += s.positions.len();
    }
    Ok(())
}

fn write_vertices(
    out: &mut AtomicFile,
    s: &Surface<'_>,
    layout: &Layout<'_>,
    options: PlyOptions,
) -> io::Result<()> {
    let mut row: Vec<f32> = Vec::new();
    let attribute = |(name, names): &(&str, Vec<String>)| match *name {
        THICKNESS => (thickness(s), 1),
        name => (s.attributes.and_then(|a| a.get(name)), names.len()),
    };
    let attributes: Vec<(Option<&Attribute>, usize)> =
        layout.attributes.iter().map(attribute).collect();
    for v in 0..s.positions.len() {
        row.clear();
        row.extend(s.positions[v]);
        row.extend(
            s.normals
                .filter(|_| layout.normals)
                .into_iter()
                .flat_map(|n| n[v]),
        );
        row.extend(
            s.uvs
                .filter(|_| layout.uvs)
                .into_iter()
                .flat_map(|t| [t[v][0], 1.0 - t[v][1]]),
        );
        let color = s.colors.filter(|_| layout.colors).map(|c| c[v]);
        let split = row.len();
        if let (Some(c), true) = (color, options.float_colors) {
            row.extend(c);
        }
        for (a, width) in &attributes {
            row.extend((0..*width).map(|c| a.and_then(|a| a.component(v, c)).unwrap_or(0.0)));
        }
        let bytes = color
            .filter(|_| !options.float_colors)
            .map(|c| srgb_color(c).map(to_byte));
        let (before, after) = row.split_at(split);
        match options.encoding {
            PlyEncoding::Binary => {
                put_f32s(out, before)?;
                out.write_all(bytes.as_ref().map_or(&[], |b| b.as_slice()))?;
                put_f32s(out, after)?;
            }
            PlyEncoding::Ascii => {
                let numbers = before.iter().map(f32::to_string);
                let bytes = bytes.iter().flatten().map(u8::to_string);
                let all: Vec<String> = numbers
                    .chain(bytes)
                    .chain(after.iter().map(f32::to_string))
                    .collect();
                writeln!(out, "{}", all.join(" "))?;
            }
        }
    }
    Ok(())
}

fn to_byte(c: f32) -> u8 {
    (c.clamp(0.0, 1.0) * 255.0).round() as u8
}

fn write_face(
    out: &mut AtomicFile,
    face: &[u32],
    base: usize,
    byte_lengths: bool,
    encoding: PlyEncoding,
) -> io::Result<()> {
    if encoding == PlyEncoding::Ascii {
        write!(out, "{}", face.len())?;
        face.iter()
            .try_for_each(|&v| write!(out, " {}", base + v as usize))?;
        return writeln!(out);
    }
    let too_many = |_| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "too many vertices for the indices of PLY",
        )
    };
    let length = u32::try_from(face.len()).map_err(too_many)?.to_le_bytes();
    out.write_all(if byte_lengths { &length[..1] } else { &length })?;
    for &v in face {
        let index = i32::try_from(base + v as usize).map_err(too_many)?;
        out.write_all(&index.to_le_bytes())?;
    }
    Ok(())
}
