//! `.tfxbone` files: the bones that strand roots follow.

use super::cursor::Cursor;
use crate::fault::{cannot_read, cannot_write, malformed, quoted, warning};
use crate::{AtomicFile, IoError};
use sinew_geom::{Influences, InfluencesError, Warning};
use std::io::{self, Write};
use std::path::Path;

/// Bytes per strand: its index, four bones, four weights.
const STRAND: usize = 36;
/// Minimum bytes per bone: its index, the length of its name, a name of one letter and its terminator.
const BONE: usize = 9;

/// A bone and its weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoneWeight {
    /// Index into the bone names; −1 for none.
    pub bone: i32,
    /// 0 or more. The weights of a strand need not add up to 1.
    pub weight: f32,
}

/// Content of a `.tfxbone` file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TfxBones {
    /// Bone names. Joints of an engine or of another file are matched by name.
    pub bones: Vec<String>,
    /// Bones of each strand.
    pub strands: Vec<[BoneWeight; 4]>,
    /// Warnings of the reader: unused bytes.
    pub warnings: Vec<Warning>,
}

impl TfxBones {
    /// Normalised weights per strand over the bones of the file. Strands without weights follow the first bone.
    ///
    /// # Errors
    /// [`InfluencesError`] for bones and weights that [`parse_tfx_bones`] rejects.
    pub fn influences(&self) -> Result<Influences, InfluencesError> {
        self.rows().map(|found| found.0)
    }

    /// As [`Self::influences`], with the strands whose weights were normalised and those without weights.
    pub(super) fn rows(&self) -> Result<(Influences, Vec<u32>, Vec<u32>), InfluencesError> {
        let rows: Vec<Vec<(u32, f32)>> = self
            .strands
            .iter()
            .map(|strand| {
                let some = strand.iter();
                some.filter_map(|b| Some((u32::try_from(b.bone).ok()?, b.weight)))
                    .collect()
            })
            .collect();
        let rows = rows.iter().map(Vec::as_slice);
        Influences::from_rows(rows, self.bones.len(), 0)
    }
}

/// Reads a `.tfxbone` file.
///
/// # Errors
/// [`IoError::Read`]; as [`parse_tfx_bones`].
pub fn read_tfx_bones(path: &Path) -> Result<TfxBones, IoError> {
    parse_tfx_bones(&std::fs::read(path).map_err(cannot_read(path))?, path)
}

/// [`read_tfx_bones`] from bytes. `path` appears in errors.
///
/// # Errors
/// [`IoError::Malformed`] if counts do not match the file size, bones and strands are not numbered from 0, a name has
/// no terminator or is not UTF-8, a strand refers to a bone that does not exist, or a weight is negative or not finite.
pub fn parse_tfx_bones(bytes: &[u8], path: &Path) -> Result<TfxBones, IoError> {
    let mut cursor = Cursor::new(path, bytes);
    let mut out = TfxBones::default();
    let bones = cursor.count(BONE, "number of bones")?;
    for index in 0..bones {
        out.bones.push(bone(&mut cursor, index)?);
    }
    let strands = cursor.count(STRAND, "number of strands")?;
    out.strands.reserve_exact(strands);
    for index in 0..strands {
        out.strands.push(strand(&mut cursor, index, bones)?);
    }
    if cursor.left() > 0 {
        let message = format!("{} bytes at the end of the file are unused", cursor.left());
        out.warnings.push(warning("bytes_behind_the_end", message));
    }
    Ok(out)
}

fn numbered(cursor: &mut Cursor<'_>, what: &str, index: usize) -> Result<(), IoError> {
    let location = format!("byte {}, index of {what} {index}", cursor.at());
    let found = cursor.i32(what)?;
    if usize::try_from(found) == Ok(index) {
        return Ok(());
    }
    Err(malformed(
        cursor.path,
        location,
        found.to_string(),
        index.to_string(),
    ))
}

fn bone(cursor: &mut Cursor<'_>, index: usize) -> Result<String, IoError> {
    numbered(cursor, "bone", index)?;
    let what = format!("name of bone {index}");
    let location = format!("byte {}, {what}", cursor.at());
    let length = cursor.count(1, &what)?;
    let bytes = cursor.take(length, &what)?;
    let wrong = |expected: &str| malformed(cursor.path, location, quoted(bytes), expected);
    let Some((0, name)) = bytes.split_last() else {
        return Err(wrong("a name that ends with a zero byte"));
    };
    match std::str::from_utf8(name) {
        Ok(name) if !name.contains('\0') => Ok(name.to_owned()),
        _ => Err(wrong("a UTF-8 name with one zero byte, at its end")),
    }
}

fn strand(cursor: &mut Cursor<'_>, index: usize, bones: usize) -> Result<[BoneWeight; 4], IoError> {
    numbered(cursor, "strand", index)?;
    let mut out = [BoneWeight::default(); 4];
    for (slot, out) in out.iter_mut().enumerate() {
        let location = |what: &str| format!("strand {index}, {what} {slot}");
        let bone = cursor.i32("bone")?;
        let weight = cursor.f32("weight")?;
        let is_known = bone == -1 || usize::try_from(bone).is_ok_and(|b| b < bones);
        if !is_known {
            let expected = format!("-1 for none, or a bone index below {bones}");
            return Err(malformed(
                cursor.path,
                location("bone"),
                bone.to_string(),
                expected,
            ));
        }
        if !(weight.is_finite() && weight >= 0.0) {
            let expected = "a finite number, 0 or more";
            return Err(malformed(
                cursor.path,
                location("weight"),
                weight.to_string(),
                expected,
            ));
        }
        *out = BoneWeight { bone, weight };
    }
    Ok(out)
}

/// Writes a `.tfxbone` file.
///
/// # Errors
/// [`IoError::Malformed`] for data that [`parse_tfx_bones`] rejects; [`IoError::Write`].
pub fn write_tfx_bones(path: &Path, bones: &TfxBones) -> Result<(), IoError> {
    let bytes = bytes_of(path, bones)?;
    let mut out = AtomicFile::create(path)?;
    out.put(&bytes)?;
    out.commit()
}

fn bytes_of(path: &Path, bones: &TfxBones) -> Result<Vec<u8>, IoError> {
    let mut out = Vec::new();
    put(&mut out, bones).map_err(cannot_write(path))?;
    // Data that cannot be read must not be written.
    parse_tfx_bones(&out, path)?;
    Ok(out)
}

fn put(out: &mut Vec<u8>, bones: &TfxBones) -> io::Result<()> {
    put_number(out, bones.bones.len())?;
    for (index, name) in bones.bones.iter().enumerate() {
        put_number(out, index)?;
        put_number(out, name.len() + 1)?;
        out.extend(name.bytes());
        out.push(0);
    }
    put_number(out, bones.strands.len())?;
    for (index, strand) in bones.strands.iter().enumerate() {
        put_number(out, index)?;
        for influence in strand {
            out.write_all(&influence.bone.to_le_bytes())?;
            out.write_all(&influence.weight.to_le_bytes())?;
        }
    }
    Ok(())
}

fn put_number(out: &mut Vec<u8>, number: usize) -> io::Result<()> {
    let number = i32::try_from(number)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "more than 2^31 entries"))?;
    out.write_all(&number.to_le_bytes())
}
