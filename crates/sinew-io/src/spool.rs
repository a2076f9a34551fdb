//! Numbers of frames that wait on disk until their file is written: memory does not grow with the number of frames.

use crate::IoError;
use crate::fault::cannot_write;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A temporary file for numbers. It has no name: the system removes it when the process ends, however it ends.
#[derive(Debug)]
pub struct Spool {
    /// For errors: the file that the numbers are for.
    output: PathBuf,
    file: Arc<Mutex<File>>,
    bytes: u64,
}

impl Spool {
    /// Makes one in the folder of an output, or in the nearest folder above it that exists.
    ///
    /// # Errors
    /// [`IoError::Write`] with the path of the output if the folder cannot be written.
    pub fn beside(output: &Path) -> Result<Self, IoError> {
        Ok(Self {
            output: output.to_owned(),
            file: Arc::new(Mutex::new(unnamed_beside(output)?)),
            bytes: 0,
        })
    }

    /// Appends numbers.
    ///
    /// # Errors
    /// [`IoError::Write`], for example if the disk is full.
    pub fn put(&mut self, numbers: &[f32]) -> Result<Numbers, IoError> {
        let bytes: &[u8] = bytemuck::cast_slice(numbers);
        let write = || {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(self.bytes))?;
            file.write_all(bytes)
        };
        write().map_err(cannot_write(&self.output))?;
        let begin = self.bytes;
        self.bytes += bytes.len() as u64;
        Ok(Numbers(Kept::Disk {
            file: Arc::clone(&self.file),
            begin,
            len: numbers.len(),
        }))
    }
}

/// A temporary file without a name, in the folder of an output or in the nearest folder above it that exists.
fn unnamed_beside(output: &Path) -> Result<File, IoError> {
    let mut folders = output.ancestors().skip(1);
    let folder = folders.find(|f| f.is_dir());
    let folder = folder.unwrap_or(Path::new("."));
    tempfile::tempfile_in(folder).map_err(cannot_write(output))
}

/// The content of a file that starts with its own length, kept on disk until the length is known.
pub(crate) struct ByteSpool {
    file: BufWriter<File>,
    len: u64,
}

impl ByteSpool {
    /// As [`Spool::beside`]. For a device or a pipe: in the folder for temporary files.
    pub(crate) fn beside(output: &Path) -> Result<Self, IoError> {
        let is_device = output.exists() && !output.is_file();
        let file = match is_device {
            true => tempfile::tempfile().map_err(cannot_write(output))?,
            false => unnamed_beside(output)?,
        };
        Ok(Self {
            file: BufWriter::with_capacity(1 << 18, file),
            len: 0,
        })
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Copies all bytes to a file.
    pub(crate) fn copy_to(self, out: &mut impl Write) -> io::Result<()> {
        let mut file = self.file.into_inner().map_err(|e| e.into_error())?;
        file.rewind()?;
        io::copy(&mut file, out).map(|_| ())
    }
}

impl Write for ByteSpool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.len += written as u64;
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Numbers in memory or in a [`Spool`].
#[derive(Clone, Debug)]
pub struct Numbers(Kept);

#[derive(Clone, Debug)]
enum Kept {
    Memory(Vec<f32>),
    Disk {
        file: Arc<Mutex<File>>,
        begin: u64,
        len: usize,
    },
}

impl From<Vec<f32>> for Numbers {
    fn from(numbers: Vec<f32>) -> Self {
        Self(Kept::Memory(numbers))
    }
}

impl Numbers {
    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kept::Memory(numbers) => numbers.len(),
            Kept::Disk { len, .. } => *len,
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them.
    ///
    /// # Errors
    /// As [`Self::range`].
    pub fn all(&self) -> io::Result<Cow<'_, [f32]>> {
        self.range(0..self.len())
    }

    /// Some of them.
    ///
    /// # Errors
    /// If the spool cannot be read, and `UnexpectedEof` if the range goes beyond the end.
    pub fn range(&self, range: Range<usize>) -> io::Result<Cow<'_, [f32]>> {
        if range.start > range.end || range.end > self.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match &self.0 {
            Kept::Memory(numbers) => Ok(Cow::Borrowed(&numbers[range])),
            Kept::Disk { file, begin, .. } => {
                let mut out = vec![0.0_f32; range.len()];
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(begin + 4 * range.start as u64))?;
                file.read_exact(bytemuck::cast_slice_mut(&mut out))?;
                Ok(Cow::Owned(out))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_comes_back_in_any_order_and_leaves_nothing() {
        let folder = tempfile::tempdir().expect("temp");
        let mut spool = Spool::beside(&folder.path().join("new/x.glb")).expect("made");
        let rows: Vec<Vec<f32>> = (0..50_u16)
            .map(|k| {
                (0..k % 7)
                    .map(|i| f32::from(k) + 0.1 * f32::from(i))
                    .collect()
            })
            .collect();
        let kept: Vec<Numbers> = rows.iter().map(|r| spool.put(r).expect("put")).collect();
        for (row, kept) in rows.iter().zip(&kept).rev() {
            assert_eq!(kept.all().expect("reads"), &row[..]);
            let middle = row.len() / 2..row.len();
            assert_eq!(kept.range(middle.clone()).expect("reads"), &row[middle]);
            kept.range(0..row.len() + 1).expect_err("beyond the end");
        }
        let names = std::fs::read_dir(folder.path()).expect("reads").count();
        assert_eq!(names, 0, "a spool has no name");
    }
}
