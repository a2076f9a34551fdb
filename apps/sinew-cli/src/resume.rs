//! `--resume`: a record beside the files says which frames of an interrupted run are complete, what was written, and what it was made from.

use crate::exit::{Failure, Outcome};
use crate::output::{ending_of, frame_file, is_sequence};
use crate::outputs::RUN_RECORD;
use crate::reporter::{Reporter, counted};
use sinew::bake::content_key;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The record of a run, which is there until the run ends well. It is locked as long: of two runs into the same files, the second is refused.
pub(crate) struct RunRecord<'a> {
    path: PathBuf,
    file: File,
    outputs: &'a [PathBuf],
    /// All that were asked for.
    numbers: &'a [i64],
    /// Frame number, and size and hash of each of its files.
    done: BTreeMap<i64, String>,
}

impl<'a> RunRecord<'a> {
    /// Opens the record of a run that writes frames `numbers`, or begins one. `key` changes with all that the frames depend on.
    pub(crate) fn open(
        outputs: &'a [PathBuf],
        numbers: &'a [i64],
        key: &str,
        reporter: &Reporter,
    ) -> Outcome<Self> {
        if let Some(whole) = outputs.iter().find(|o| !is_sequence(o)) {
            return Err(Failure::usage(format!(
                "--resume needs outputs with one file per frame (.obj, .ply, .tfx), but {} is one file for all frames",
                whole.display()
            )));
        }
        let path = path_of(&outputs[0], numbers);
        reporter.check_record(&path)?;
        let mut this = Self {
            file: locked(&path)?,
            path,
            outputs,
            numbers,
            done: BTreeMap::new(),
        };
        let mut known = String::new();
        // A record that is no text is that of no run.
        let _ = this.file.read_to_string(&mut known);
        let head = format!("{RUN_RECORD}{key}\n");
        let name = this.path.display();
        match known.strip_prefix(&head) {
            Some(lines) => {
                let (done, lost) = this.complete_frames(lines, reporter)?;
                let frames = counted(done.len() as u64, "frame");
                reporter.info("resumed", &format!("resumes: {frames} complete"));
                if lost > 0 {
                    let message = format!(
                        "files of {} are missing or were changed since; they are written again",
                        counted(lost, "complete frame")
                    );
                    reporter.warning("frames_changed", &message);
                }
                this.done = done;
            }
            None if known.is_empty() => reporter.info(
                "nothing_to_resume",
                &format!(
                    "there is no list of an interrupted run ({name}): all frames will be written"
                ),
            ),
            None => {
                let message = format!(
                    "{name} is the record of another run: the character, the graph, its values or the options differ. All frames are written again"
                );
                reporter.warning("other_run", &message);
            }
        }
        let lines = this.done.iter().map(|(number, key)| line(*number, key));
        let text: String = std::iter::once(head).chain(lines).collect();
        let written = this
            .file
            .set_len(0)
            .and_then(|()| this.file.rewind())
            .and_then(|()| this.file.write_all(text.as_bytes()));
        written.map_err(|e| cannot_write(&this.path, &e))?;
        Ok(this)
    }

    /// Frames of a record whose files are what was written, and how many others it has.
    fn complete_frames(
        &self,
        lines: &str,
        reporter: &Reporter,
    ) -> Outcome<(BTreeMap<i64, String>, u64)> {
        let (mut done, mut lost) = (BTreeMap::new(), 0);
        // A line that was cut off says nothing: only lines with an end count.
        for line in lines.split_inclusive('\n') {
            reporter.check_interrupt()?;
            let parts = line.strip_suffix('\n').and_then(|l| l.split_once(' '));
            let Some((number, key)) = parts else { continue };
            let Ok(number) = number.parse() else { continue };
            match self.key_of_frame(number) {
                Ok(found) if found == key => _ = done.insert(number, found),
                _ => lost += 1,
            }
        }
        Ok((done, lost))
    }

    /// A text that changes with what the files of a frame hold.
    fn key_of_frame(&self, number: i64) -> Outcome<String> {
        let files = self.outputs.iter();
        let keys = files.map(|o| content_key(&frame_file(o, number, self.numbers)));
        let keys: Result<Vec<String>, _> = keys.collect();
        Ok(keys.map_err(Failure::output)?.join("; "))
    }

    /// The frames that are left.
    pub(crate) fn left(&self, numbers: &[i64]) -> Vec<i64> {
        let left = numbers.iter().filter(|n| !self.done.contains_key(n));
        left.copied().collect()
    }

    /// All files of a frame are complete.
    pub(crate) fn is_done(&self, number: i64) -> Outcome {
        let line = line(number, &self.key_of_frame(number)?);
        let written = (&self.file).write_all(line.as_bytes());
        written.map_err(|e| cannot_write(&self.path, &e))
    }

    /// The run ended well: nobody needs the record.
    pub(crate) fn finish(self) -> Outcome {
        let Self { path, file, .. } = self;
        // Windows removes no open file.
        drop(file);
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(Failure::output(format!(
                "cannot remove {}: {e}",
                path.display()
            ))),
            _ => Ok(()),
        }
    }
}

/// Opens a record, and makes it where there is none; no other run may have it.
fn locked(path: &Path) -> Outcome<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| cannot_write(path, &e))?;
    }
    let mut options = OpenOptions::new();
    let opened = options.read(true).write(true).create(true).truncate(false);
    let file = opened.open(path).map_err(|e| cannot_write(path, &e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::output(format!(
            "{} is in use: another run writes these frames now; wait for it, or write to other files",
            path.display()
        ))),
        Err(TryLockError::Error(e)) => Err(cannot_write(path, &e)),
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::output(format!("cannot write {}: {error}", path.display()))
}

fn line(number: i64, key: &str) -> String {
    format!("{number} {key}\n")
}

/// `out.ply.0-119.run.txt` beside `out_####.ply`, `out.ply.0-119x2.run.txt` for every second frame: tasks of a farm that share a name have records of
/// their own.
fn path_of(output: &Path, numbers: &[i64]) -> PathBuf {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.trim_end_matches(['#', '_']);
    let [first, last] = [numbers.first(), numbers.last()].map(|n| n.copied().unwrap_or(0));
    let step = match numbers {
        [a, b, ..] if b - a > 1 => format!("x{}", b - a),
        _ => String::new(),
    };
    let ending = ending_of(output);
    output.with_file_name(format!("{stem}.{ending}.{first}-{last}{step}.run.txt"))
}
