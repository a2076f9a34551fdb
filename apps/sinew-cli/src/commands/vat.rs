//! `sinew bake vat` and `sinew vat`.

mod blends;
mod inspect;
mod settings;
mod size;
mod size_of;
mod source;
mod tell;
mod verify;
mod words;

pub(super) use self::inspect::inspect as inspect_bake;
use self::settings::settings_of;
use self::source::source_of;
use self::tell::tell;
use self::words::{carrier_words, counted};
use crate::bake_args::{BakeVatArgs, VatAssembleArgs, VatChunkArgs, VatCommand, VatScanArgs};
use crate::exit::{Code, Failure, Outcome};
use crate::reporter::{Progress, Reporter};
use crate::threads::Threads;
use sinew::bake::vat::{VatJob, assemble, bake, name_of, plan, remove_work, scan, texels};
use sinew::bake::{BakeError, Chunk, Watch};
use sinew::io::FolderLock;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub(super) fn vat(command: &VatCommand, reporter: &Reporter) -> Outcome {
    match command {
        VatCommand::Scan(args) => scan_chunk(args, reporter),
        VatCommand::Plan(args) => {
            let (_lock, job) = opened(&args.work)?;
            let made = watched(reporter, |watch| plan(&job, watch))?;
            let [width, height] = made.layout.size;
            let message = format!(
                "{}, textures of {width} x {height}",
                carrier_words(made.mode(), made.triangles)
            );
            reporter.info("planned", &message);
            Ok(())
        }
        VatCommand::Bake(args) => bake_chunk(args, reporter),
        VatCommand::Assemble(args) => assemble_all(args, reporter),
        VatCommand::Size(args) => size::size(args, reporter),
        VatCommand::Inspect(args) => inspect::inspect(&args.bake, reporter),
        VatCommand::BlendError(args) => blends::measure_blends(args, reporter),
        VatCommand::Verify(args) => verify::verify_bake(args, reporter),
    }
}

pub(super) fn bake_vat(args: &BakeVatArgs, reporter: &Reporter) -> Outcome {
    let settings = settings_of(&args.settings, &args.source)?;
    let (work, is_ours) = match &args.work {
        Some(folder) if *folder == args.output => {
            return Err(Failure::usage(
                "--work and -o name the same folder; intermediate results stay in --work, so choose another folder for one of them",
            ));
        }
        Some(folder) => (folder.clone(), false),
        None => (beside(&args.output)?, true),
    };
    let is_new = !work.exists();
    let _lock = FolderLock::alone(&work).map_err(Failure::output)?;
    let summary = on_threads(args.source.threads, || {
        let source = source_of(&args.source, &settings, reporter)?;
        reporter.check_bake(&args.output, &name_of(source.name(), &settings))?;
        let all = |watch: &Watch<'_>| bake(source.as_ref(), &settings, &work, &args.output, watch);
        Ok(watched(reporter, all))
    })?;
    let summary = summary.inspect_err(|error| {
        if is_ours && work.exists() {
            leave(&work, is_new, error, reporter);
        }
    })?;
    if is_ours && !remove_work(&work)? {
        let work = work.display();
        reporter.info(
            "kept",
            &format!("{work} is kept, because it has files that no bake made"),
        );
    }
    tell(&summary, reporter);
    Ok(())
}

/// What becomes of our own work folder after an error: it is spoken of where the same command goes on from there. Where it never will, the folder
/// goes, unless it was there before.
fn leave(work: &Path, is_new: bool, error: &BakeError, reporter: &Reporter) {
    if error.can_go_on() {
        let work = work.display();
        reporter.info("kept", &format!("intermediate results are kept in {work}; run the same command again to resume, or delete the folder"));
    } else if is_new {
        // The error itself is what matters.
        let _ = remove_work(work);
    }
}

/// A work folder that others may work in, too, but none that has it for itself.
fn shared(work: &Path) -> Outcome<FolderLock> {
    FolderLock::shared(work).map_err(Failure::output)
}

/// The job of a work folder.
fn opened(work: &Path) -> Outcome<(FolderLock, VatJob)> {
    let lock = shared(work)?;
    Ok((lock, VatJob::open(work)?))
}

/// `OUT.work` beside the folder to write.
fn beside(out: &Path) -> Outcome<PathBuf> {
    let name = out
        .file_name()
        .ok_or_else(|| Failure::usage(format!("-o {}: expected a folder name", out.display())))?;
    let mut name = name.to_owned();
    name.push(".work");
    Ok(out.with_file_name(name))
}

fn scan_chunk(args: &VatScanArgs, reporter: &Reporter) -> Outcome {
    let settings = settings_of(&args.settings, &args.source)?;
    on_threads(args.source.threads, || {
        let source = source_of(&args.source, &settings, reporter)?;
        let _lock = shared(&args.work)?;
        let job = VatJob::begin(&args.work, source.as_ref(), &settings)?;
        if let Some(before) = job.replaced() {
            let message = format!(
                "{}: earlier scans are discarded, because they are of {before}; use the same for all chunks",
                args.work.display()
            );
            reporter.warning("other_job", &message);
        }
        let chunk = args.chunk.unwrap_or(Chunk::ALL);
        watched(reporter, |watch| scan(&job, source.as_ref(), chunk, watch))?;
        let frames = chunk.frames(job.frame_count()).len();
        let message = format!(
            "scanned {frames} of {} into {}",
            counted(job.frame_count() as u64, "frame"),
            args.work.display()
        );
        reporter.info("scanned", &message);
        Ok(())
    })
}

fn bake_chunk(args: &VatChunkArgs, reporter: &Reporter) -> Outcome {
    let (_lock, job) = opened(&args.work)?;
    let chunk = args.chunk.unwrap_or(Chunk::ALL);
    on_threads(args.threads, || {
        Ok(watched(reporter, |watch| texels(&job, chunk, watch))?)
    })?;
    let frames = chunk.frames(job.frame_count()).len() as u64;
    let message = format!("baked texels of {}", counted(frames, "frame"));
    reporter.info("baked", &message);
    Ok(())
}

fn assemble_all(args: &VatAssembleArgs, reporter: &Reporter) -> Outcome {
    let (_lock, job) = opened(&args.work)?;
    reporter.check_bake(&args.output, job.name())?;
    let summary = watched(reporter, |watch| assemble(&job, &args.output, watch))?;
    tell(&summary, reporter);
    Ok(())
}

/// Runs on a number of threads.
fn on_threads<T: Send>(threads: Threads, work: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
    threads.pool()?.install(work)
}

/// Runs with a progress bar for each stage; Ctrl-C stops it.
pub(super) fn watched<T, E>(
    reporter: &Reporter,
    work: impl FnOnce(&Watch<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let bar: Mutex<Option<(&'static str, Progress)>> = Mutex::new(None);
    let progress = |what: &'static str, done: usize, total: usize| {
        let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
        if bar.as_ref().is_none_or(|b| b.0 != what) {
            *bar = Some((what, reporter.progress(total, what)));
        }
        if let Some((_, bar)) = bar.as_ref()
            && done > 0
        {
            bar.step(done);
        }
    };
    work(&Watch::new(&|| reporter.is_interrupted(), &progress))
}

impl From<BakeError> for Failure {
    fn from(error: BakeError) -> Self {
        let code = match &error {
            BakeError::Cancelled => Code::Interrupted,
            BakeError::OtherBake { .. } => Code::Output,
            BakeError::Setting { .. }
            | BakeError::Quantity { .. }
            | BakeError::TooLargeForHalf { .. }
            | BakeError::Preparation(_) => Code::Usage,
            BakeError::Io(sinew::io::IoError::Write { .. }) => Code::Output,
            BakeError::Missing { .. }
            | BakeError::OtherCarrier { .. }
            | BakeError::NotSoft { .. }
            | BakeError::NotSimplified { .. }
            | BakeError::NotRigid { .. }
            | BakeError::UnclearTurn { .. }
            | BakeError::Pieces { .. }
            | BakeError::NoPieces { .. }
            | BakeError::NothingLeft { .. }
            | BakeError::Convention { .. }
            | BakeError::Plan(_)
            | BakeError::Layout(_)
            | BakeError::TooLarge { .. } => Code::Bind,
            _ => Code::Input,
        };
        Self::new(code, error)
    }
}
