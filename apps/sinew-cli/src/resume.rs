//! `--resume`: a record beside the files says which frames of an interrupted run are complete, and what they were made from.

use crate::exit::{Failure, Outcome};
use crate::output::{frame_file, is_sequence};
use crate::reporter::{Reporter, counted};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The first line of a record, before the key.
const HEAD: &str = "sinew run 1 ";

/// The record of a run, which is there until the run ends well.
pub(crate) struct RunRecord {
    path: PathBuf,
    done: BTreeSet<i64>,
}

impl RunRecord {
    /// Opens the record of a run that writes frames `numbers` (all that were asked for), or begins one. `key` changes with all that the frames depend on.
    pub(crate) fn open(
        outputs: &[PathBuf],
        numbers: &[i64],
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
        let head = format!("{HEAD}{key}\n");
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        let is_same = known.starts_with(&head);
        let mut done = BTreeSet::new();
        if is_same {
            // A line that was cut off is a number that is not whole: only lines with an end count.
            let lines = known[head.len()..].split_inclusive('\n');
            let whole = lines.filter_map(|line| line.strip_suffix('\n')?.parse().ok());
            let has_files = |number: &i64| {
                let mut files = outputs.iter().map(|o| frame_file(o, *number, numbers));
                files.all(|file| file.is_file())
            };
            done = whole.filter(has_files).collect();
            let frames = counted(done.len() as u64, "frame");
            reporter.info("resumed", &format!("resumes: {frames} complete"));
        } else if !known.is_empty() {
            let message = format!(
                "{} is the record of another run: the character, the graph, its values or the options differ. All frames are written again",
                path.display()
            );
            reporter.warning("other_run", &message);
        }
        let mut text = head;
        for number in &done {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{number}");
        }
        sinew::io::write_text(&path, &text).map_err(Failure::output)?;
        Ok(Self { path, done })
    }

    /// The frames that are left.
    pub(crate) fn left(&self, numbers: &[i64]) -> Vec<i64> {
        let left = numbers.iter().filter(|n| !self.done.contains(n));
        left.copied().collect()
    }

    /// All files of a frame are complete.
    pub(crate) fn is_done(&self, number: i64) -> Outcome {
        let append = || {
            let mut options = std::fs::OpenOptions::new();
            let mut file = options.append(true).open(&self.path)?;
            file.write_all(format!("{number}\n").as_bytes())
        };
        append().map_err(|e| Failure::output(format!("cannot write {}: {e}", self.path.display())))
    }

    /// The run ended well: nobody needs the record.
    pub(crate) fn finish(self) -> Outcome {
        std::fs::remove_file(&self.path)
            .map_err(|e| Failure::output(format!("cannot remove {}: {e}", self.path.display())))
    }
}

/// `out.0-119.run.txt` beside `out_####.ply`: tasks of a farm that share a name have records of their own.
fn path_of(output: &Path, numbers: &[i64]) -> PathBuf {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.trim_end_matches(['#', '_']);
    let [first, last] = [numbers.first(), numbers.last()].map(|n| n.copied().unwrap_or(0));
    output.with_file_name(format!("{stem}.{first}-{last}.run.txt"))
}
