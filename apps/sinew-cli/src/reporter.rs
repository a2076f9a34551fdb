//! Messages to the user: text or JSON lines on standard error, a progress bar on a terminal, Ctrl-C.

use crate::args::LogFormat;
use crate::exit::{Code, Failure, Outcome};
use crate::host::Host;
use crate::outputs::Outputs;
use crate::terminal::{escaped, masked, message};
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Map, Value, json};
use sinew::graph::{Diagnostic, NodeNote, SetupProgress, SetupWatch, Severity};
use std::cell::Cell;
use std::io::{ErrorKind, IsTerminal, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// `1 frame`, `2 frames`.
pub(crate) fn counted(count: impl Into<u64>, what: &str) -> String {
    let count = count.into();
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {what}{ending}")
}

/// What graphs of strangers may do beyond the usual.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    /// Folders in which files may lie that graphs name.
    pub(crate) folders: Vec<PathBuf>,
    /// Whether hardware runs kernels of graphs that came within a character.
    pub(crate) kernels: bool,
}

/// What holds for the whole run.
pub(crate) struct Reporter {
    format: LogFormat,
    quiet: bool,
    pub(crate) allowed: Allowed,
    interrupted: Arc<AtomicBool>,
    /// Files that this command has written.
    written: AtomicU64,
    outputs: Mutex<Outputs>,
    sink: Sink,
    /// Why standard output could not be written.
    not_printed: OnceLock<String>,
}

impl Reporter {
    pub(crate) fn new(format: LogFormat, quiet: bool, allowed: Allowed) -> Self {
        Self {
            format,
            quiet,
            allowed,
            interrupted: Arc::default(),
            written: AtomicU64::new(0),
            outputs: Mutex::default(),
            sink: Sink::Terminal,
            not_printed: OnceLock::new(),
        }
    }

    /// Of a command inside another program.
    pub(crate) fn of_host(host: Arc<dyn Host>, quiet: bool, allowed: Allowed) -> Self {
        Self {
            interrupted: host.stop(),
            sink: Sink::Host(host),
            ..Self::new(LogFormat::Json, quiet, allowed)
        }
    }

    /// The program that the command runs in.
    pub(crate) fn host(&self) -> Option<&dyn Host> {
        match &self.sink {
            Sink::Terminal => None,
            Sink::Host(host) => Some(host.as_ref()),
        }
    }

    /// Takes note of Ctrl-C from now on.
    pub(crate) fn listen(&mut self) {
        // Without a handler Ctrl-C ends the process at once; files are renamed into place, so nothing is half done.
        let _ = crate::signals::listen(&self.interrupted);
    }

    /// What the arguments say will be written.
    pub(crate) fn will_write(&self, outputs: Outputs) {
        *self.outputs.lock().unwrap_or_else(PoisonError::into_inner) = outputs;
    }

    /// Looks at a file that will be written under another name than the arguments give.
    pub(crate) fn check_output(&self, path: &Path) -> Outcome {
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        outputs.check_file(path)
    }

    /// The same of the record of a run.
    pub(crate) fn check_record(&self, path: &Path) -> Outcome {
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        outputs.check_record(path)
    }

    /// Looks at what a bake of a name would replace in a folder.
    pub(crate) fn check_bake(&self, folder: &Path, name: &str) -> Outcome {
        let outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        outputs.check_bake(folder, name)
    }

    /// Looks at files that are read although the arguments do not name them: none is replaced.
    pub(crate) fn check_read(&self, files: &[PathBuf]) -> Outcome {
        let outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().try_for_each(|file| outputs.reads(file))
    }

    /// Says that a file is written, for the message after Ctrl-C.
    pub(crate) fn wrote_file(&self) {
        self.written.fetch_add(1, Ordering::Relaxed);
    }

    /// How messages, and reports of commands that have both forms, look.
    pub(crate) fn format(&self) -> LogFormat {
        self.format
    }

    /// Whether Ctrl-C was pressed.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Calls `work`, and gives the lines that drivers and their libraries wrote to standard error meanwhile. Inside another program,
    /// standard error is not ours.
    #[cfg(feature = "gpu")]
    pub(crate) fn overheard<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<String>) {
        match self.sink {
            Sink::Terminal => crate::terminal::overheard(work),
            Sink::Host(_) => (work(), Vec::new()),
        }
    }

    /// What stops the compiler of kernels.
    #[cfg(feature = "gpu")]
    pub(crate) fn compile_limit(&self) -> sinew::gpu::CompileLimit {
        let mut limit = sinew::gpu::CompileLimit::default();
        limit.stop = Some(self.interrupted.clone());
        limit
    }

    /// Fails once Ctrl-C was pressed.
    pub(crate) fn check_interrupt(&self) -> Outcome {
        if self.is_interrupted() {
            let message = match self.written.load(Ordering::Relaxed) {
                0 => "stopped; nothing was written".to_owned(),
                1 => "stopped; 1 file was already written".to_owned(),
                n => format!("stopped; {n} files were already written"),
            };
            return Err(Failure::new(Code::Interrupted, message));
        }
        Ok(())
    }

    fn line(&self, text: &str) {
        self.raw_line(&message(text));
    }

    /// A line with commands for a terminal of our own.
    fn raw_line(&self, text: &str) {
        // A closed pipe is not worth an error.
        let _ = writeln!(std::io::stderr(), "{text}");
    }

    pub(crate) fn info(&self, event: &str, message: &str) {
        self.info_with(event, message, Value::Null);
    }

    /// `more` are further fields for programs.
    pub(crate) fn info_with(&self, event: &str, message: &str, more: Value) {
        match (self.quiet, self.format) {
            (true, _) => {}
            (_, LogFormat::Text | LogFormat::Openjd) => self.line(message),
            (_, LogFormat::Json) => {
                let mut line = json!({ "level": "info", "event": event, "message": message });
                if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
                    line.extend(more);
                }
                self.sink.event(&line);
            }
        }
    }

    /// What setup of a node found.
    pub(crate) fn note(&self, note: &NodeNote) {
        match (self.quiet, self.format) {
            (true, _) => {}
            (_, LogFormat::Text | LogFormat::Openjd) => self.line(&note.to_string()),
            (_, LogFormat::Json) => {
                let mut line = note_json(note);
                line["level"] = "info".into();
                line["event"] = "setup_note".into();
                self.sink.event(&line);
            }
        }
    }

    pub(crate) fn warning(&self, code: &str, message: &str) {
        match (self.quiet, self.format) {
            (true, _) => {}
            (_, LogFormat::Text | LogFormat::Openjd) => self.line(&format!("warning: {message}")),
            (_, LogFormat::Json) => self
                .sink
                .event(&json!({ "level": "warning", "event": code, "message": message })),
        }
    }

    /// One of several errors.
    pub(crate) fn error(&self, code: &str, message: &str) {
        match self.format {
            LogFormat::Text | LogFormat::Openjd => self.line(&format!("error: {message}")),
            LogFormat::Json => self
                .sink
                .event(&json!({ "level": "error", "event": code, "message": message })),
        }
    }

    pub(crate) fn failure(&self, failure: &Failure) {
        if failure.shown {
            return;
        }
        match self.format {
            LogFormat::Text => self.line(&format!("error: {}", failure.message)),
            LogFormat::Openjd => {
                self.line(&format!("error: {}", failure.message));
                openjd("fail", &failure.message);
            }
            LogFormat::Json => self.sink.event(&json!({ "level": "error", "event": "failed", "exit": failure.code as u8, "message": failure.message })),
        }
    }

    /// Shows problems of a graph document, as text the first [`MOST_SHOWN`].
    pub(crate) fn diagnostics(&self, all: &[Diagnostic]) {
        let is_shown = |d: &&Diagnostic| !(self.quiet && d.severity == Severity::Warning);
        let shown: Vec<&Diagnostic> = all.iter().filter(is_shown).collect();
        if self.format == LogFormat::Json {
            shown.iter().for_each(|d| self.diagnostic_json(d));
            return;
        }
        for d in shown.iter().take(MOST_SHOWN) {
            self.diagnostic_text(d);
        }
        if let Some(more @ 1..) = shown.len().checked_sub(MOST_SHOWN) {
            let more = counted(more as u64, "more problem");
            self.line(&format!(
                "... and {more}; --log-format json lists all of them"
            ));
        }
    }

    fn diagnostic_json(&self, d: &Diagnostic) {
        let level = match d.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let location = d.location();
        self.sink.event(&json!({ "level": level, "event": d.code, "message": d.message, "label": d.label, "help": d.help, "file": &*d.file, "line": location.line, "column": location.column }));
    }

    /// With its location underlined.
    fn diagnostic_text(&self, d: &Diagnostic) {
        let level = match d.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let location = d.location();
        let (text, span) = excerpt(&d.text, &d.span);
        let column = text[..span.start].chars().count() + 1;
        let snippet = Snippet::source(masked(text))
            .line_start(location.line)
            .annotation(AnnotationKind::Primary.span(span).label(escaped(&d.label)));
        let title = level.primary_title(escaped(&d.message));
        let mut group = if column == location.column {
            title.element(snippet.path(escaped(&d.file)))
        } else {
            // The excerpt does not start with its line: the column is that of the file.
            let origin = Origin::path(escaped(&d.file))
                .line(location.line)
                .char_column(location.column);
            title.element(origin).element(snippet)
        };
        if let Some(help) = &d.help {
            group = group.element(Level::HELP.message(escaped(help)));
        }
        let renderer = if std::io::stderr().is_terminal() {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        self.raw_line(&renderer.render(&[group]).to_string());
    }

    /// A bar for `total` steps; hidden unless standard error is a terminal.
    pub(crate) fn progress(&self, total: usize, what: &str) -> Progress {
        let hidden =
            self.quiet || self.format != LogFormat::Text || !std::io::stderr().is_terminal();
        let target = if hidden {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{msg} [{wide_bar}] {pos}/{len} {eta}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what.to_owned());
        Progress {
            begun: Instant::now(),
            told: Cell::new(None),
            bar,
            format: if self.quiet {
                LogFormat::Text
            } else {
                self.format
            },
            what: what.to_owned(),
            node: None,
            total,
            sink: self.sink.clone(),
        }
    }
}

/// Problems of a document that are shown as text.
const MOST_SHOWN: usize = 50;
/// Bytes of a line before and behind what is underlined that are looked at: more than any terminal is wide.
const BESIDE: usize = 400;
/// Bytes that are underlined at most; of a longer location the start is.
const MOST_UNDERLINED: usize = 4000;

/// The lines of `text` that `span` is in, as far as they can be seen, and the span in them: what a picture of it costs does not depend on the text.
fn excerpt<'t>(text: &'t str, span: &Range<usize>) -> (&'t str, Range<usize>) {
    let start = text.floor_char_boundary(span.start);
    let mut end = text.floor_char_boundary(span.end.max(start));
    if end - start > MOST_UNDERLINED {
        let first_line = &text[start..text.floor_char_boundary(start + MOST_UNDERLINED)];
        end = start + first_line.find('\n').unwrap_or(first_line.len());
    }
    let before = text.floor_char_boundary(start.saturating_sub(BESIDE));
    let behind = text.floor_char_boundary(end + BESIDE);
    let from = text[before..start].rfind('\n');
    let from = from.map_or(before, |at| before + at + 1);
    let to = text[end..behind].find('\n').map_or(behind, |at| end + at);
    (&text[from..to], start - from..end - from)
}

/// Setup that is done sooner shows no progress.
const QUIET_SETUP: Duration = Duration::from_millis(500);

/// Progress of setup, or what else goes node by node, in hundredths.
struct SetupBar {
    what: &'static str,
    shown: Option<(Progress, u8)>,
}

impl SetupBar {
    fn show(&mut self, reporter: &Reporter, at: SetupProgress<'_>) {
        let hundredths = (at.done * 100.0) as u8;
        let begin = || (reporter.progress(100, self.what), u8::MAX);
        let (progress, before) = self.shown.get_or_insert_with(begin);
        let is_same_node = progress.node.as_deref() == Some(at.node);
        if !is_same_node {
            progress.node = Some(at.node.to_owned());
            let message = format!("{} of {}", self.what, escaped(at.node));
            progress.bar.set_message(message);
        }
        if !is_same_node || *before != hundredths {
            progress.step(hundredths.into());
            *before = hundredths;
        }
    }
}

impl Reporter {
    /// Calls `work` with whom to tell how far setup is, and whether to stop: Ctrl-C stops it.
    pub(crate) fn follow_setup<T>(&self, work: impl FnOnce(SetupWatch<'_>) -> T) -> T {
        self.follow("setup", work)
    }

    /// [`Self::follow_setup`] for other work; `what` is its name.
    pub(crate) fn follow<T>(
        &self,
        what: &'static str,
        work: impl FnOnce(SetupWatch<'_>) -> T,
    ) -> T {
        let bar = SetupBar { what, shown: None };
        let (begun, bar) = (Instant::now(), Mutex::new(bar));
        let report = |at: SetupProgress<'_>| {
            let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
            if bar.shown.is_some() || (begun.elapsed() >= QUIET_SETUP && at.done < 1.0) {
                bar.show(self, at);
            }
        };
        work(SetupWatch::new(&report, &|| self.is_interrupted()))
    }
}

/// Lines of progress come ten times a second, at most.
const BETWEEN_LINES: Duration = Duration::from_millis(100);

pub(crate) struct Progress {
    begun: Instant,
    /// When the last line came.
    told: Cell<Option<Instant>>,
    bar: ProgressBar,
    /// Text has the bar alone.
    format: LogFormat,
    what: String,
    /// Node at work, in setup.
    node: Option<String>,
    total: usize,
    sink: Sink,
}

impl Progress {
    pub(crate) fn step(&self, done: usize) {
        self.bar.set_position(done as u64);
        let is_due = self.told.get().is_none_or(|t| t.elapsed() >= BETWEEN_LINES);
        if self.format == LogFormat::Text || !(is_due || done >= self.total) {
            return;
        }
        self.told.set(Some(Instant::now()));
        if self.format == LogFormat::Openjd {
            let percent = 100.0 * done as f64 / self.total.max(1) as f64;
            openjd("progress", &format!("{percent:.1}"));
            openjd("status", &format!("{} {done} of {}", self.what, self.total));
            return;
        }
        let mut line = json!({ "level": "info", "event": "progress", "what": self.what, "done": done, "total": self.total });
        if let Some(node) = &self.node {
            line["node"] = node.as_str().into();
        }
        if let Some(seconds) = seconds_left(self.begun.elapsed(), done, self.total) {
            line["seconds_left"] = seconds.into();
        }
        self.sink.event(&line);
    }
}

/// A message of Open Job Description; farms look for it on standard output. One line.
fn openjd(kind: &str, text: &str) {
    let text = escaped(text).replace(['\n', '\r'], " ");
    // A closed pipe is not worth an error.
    let _ = writeln!(std::io::stdout(), "openjd_{kind}: {text}");
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// What setup of a node found, for programs.
pub(crate) fn note_json(
    NodeNote {
        node, kind, note, ..
    }: &NodeNote,
) -> Value {
    let values = note.values.iter();
    let values: Map<String, Value> = values
        .map(|&(name, value)| (name.to_owned(), value.into()))
        .collect();
    json!({ "node": node, "kind": kind, "message": note.text, "values": values })
}

/// How long the rest takes, if it goes on as before; in tenths of a second. Nothing while nothing is done.
fn seconds_left(elapsed: Duration, done: usize, total: usize) -> Option<f64> {
    let left = total.saturating_sub(done) as f64 / (done > 0).then_some(done as f64)?;
    Some((elapsed.as_secs_f64() * left * 10.0).round() / 10.0)
}

/// Who gets messages.
#[derive(Clone, Debug)]
enum Sink {
    /// Standard error and standard output.
    Terminal,
    /// A program that runs the command.
    Host(Arc<dyn Host>),
}

impl Sink {
    /// A message for programs.
    fn event(&self, event: &Value) {
        match self {
            // A closed pipe is not worth an error.
            Self::Terminal => _ = writeln!(std::io::stderr(), "{}", escaped(&event.to_string())),
            Self::Host(host) => host.event(event),
        }
    }
}

impl Reporter {
    /// Prints data on standard output; [`Self::printed`] tells in the end whether all of it came there.
    pub(crate) fn print(&self, text: &str) {
        if let Some(host) = self.host() {
            host.print(text);
            return;
        }
        let text = escaped(text);
        let mut out = std::io::stdout().lock();
        let end: &[u8] = if text.ends_with('\n') { b"" } else { b"\n" };
        let written = out.write_all(text.as_bytes());
        let written = written.and_then(|()| out.write_all(end));
        if let Err(error) = written.and_then(|()| out.flush()) {
            // A reader that closes the pipe has read enough.
            if error.kind() != ErrorKind::BrokenPipe {
                self.not_printed.get_or_init(|| error.to_string());
            }
        }
    }

    /// Whether standard output took all that was printed.
    ///
    /// # Errors
    /// Where it did not; a closed pipe is none.
    pub(crate) fn printed(&self) -> Outcome {
        match self.not_printed.get() {
            Some(error) => Err(Failure::output(format!(
                "cannot write to standard output: {error}"
            ))),
            None => Ok(()),
        }
    }
}
