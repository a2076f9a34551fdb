use crate::fault::cannot_write;
use crate::surface::srgb_color;
use crate::{AtomicFile, IoError, Surface};
use sinew_geom::Strands;
use std::io::{self, Write};
use std::path::Path;

/// Writes surfaces as objects of one OBJ file.
///
/// | content | in the file |
/// |---|---|
/// | vertices | in their order |
/// | faces | polygons if the topology has them, else triangles; strands as polylines |
/// | texture coordinates | the first set; `1 - v` is rounded to single precision |
/// | normals | as they are |
/// | colours | after the coordinates, as sRGB without alpha, with rounding |
///
/// All other numbers are written exactly: reading gives the same bits.
///
/// # Errors
/// [`IoError::Malformed`] if an array does not match its topology; [`IoError::Write`] if the file cannot be written.
pub fn write_obj(path: &Path, surfaces: &[Surface<'_>]) -> Result<(), IoError> {
    let mut out = AtomicFile::create(path)?;
    let mut base = [1_usize; 3];
    for surface in surfaces {
        surface.check(path)?;
        write_object(&mut out, surface, base).map_err(cannot_write(path))?;
        let n = surface.positions.len();
        base[0] += n;
        base[1] += surface.uvs.map_or(0, <[_]>::len);
        base[2] += surface.normals.map_or(0, <[_]>::len);
    }
    out.commit()
}

fn write_object(out: &mut AtomicFile, s: &Surface<'_>, base: [usize; 3]) -> io::Result<()> {
    let name: String = s
        .name
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if !name.trim().is_empty() {
        writeln!(out, "o {}", name.trim())?;
    }
    for (v, [x, y, z]) in s.positions.iter().enumerate() {
        write!(out, "v {x} {y} {z}")?;
        if let Some([r, g, b, _]) = s.colors.map(|c| srgb_color(c[v])) {
            write!(out, " {r} {g} {b}")?;
        }
        writeln!(out)?;
    }
    for [u, v] in s.uvs.unwrap_or_default() {
        writeln!(out, "vt {u} {}", 1.0 - v)?;
    }
    for [x, y, z] in s.normals.unwrap_or_default() {
        writeln!(out, "vn {x} {y} {z}")?;
    }
    for face in s.faces() {
        out.write_all(b"f")?;
        for &v in face {
            let [p, t, n] = base.map(|b| b + v as usize);
            match (s.uvs, s.normals) {
                (None, None) => write!(out, " {p}")?,
                (Some(_), None) => write!(out, " {p}/{t}")?,
                (None, Some(_)) => write!(out, " {p}//{n}")?,
                (Some(_), Some(_)) => write!(out, " {p}/{t}/{n}")?,
            }
        }
        writeln!(out)?;
    }
    for strand in s.topology.strands().into_iter().flat_map(Strands::ranges) {
        out.write_all(b"l")?;
        strand
            .into_iter()
            .try_for_each(|v| write!(out, " {}", base[0] + v))?;
        writeln!(out)?;
    }
    Ok(())
}
