//! A module that passed all checks.

use std::ops::Range;

use naga::valid::ModuleInfo;

use crate::error::{KernelError, LineColumn};
use crate::pieces::Piece;
use crate::reflect::{self, EntryPoint, StructLayout};
use crate::source_map::Output;

/// A checked module: its text, its naga module, and the origin of each byte.
#[derive(Clone, Debug)]
pub struct Module {
    output: Output,
    sources: Vec<Source>,
    naga: naga::Module,
    info: ModuleInfo,
}

#[derive(Clone, Debug)]
struct Source {
    file: String,
    text: String,
}

/// A location in one of the source texts of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Name of the snippet or of the generated text.
    pub file: String,
    /// Location in that text.
    pub at: LineColumn,
}

impl Module {
    pub(crate) fn new(
        output: Output,
        pieces: &[Piece],
        naga: naga::Module,
        info: ModuleInfo,
    ) -> Self {
        let sources = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Generated(g) => (g.name.as_str(), g.text.as_str()),
                Piece::Instance(i) => (i.snippet.file(), i.snippet.text()),
            })
            .map(|(file, text)| Source {
                file: file.to_owned(),
                text: text.to_owned(),
            })
            .collect();
        Self {
            output,
            sources,
            naga,
            info,
        }
    }

    /// The WGSL text. With [`ModuleOptions::subgroups`](crate::ModuleOptions::subgroups), implementations other than naga need
    /// `enable subgroups;` before it; naga refuses that line.
    pub fn text(&self) -> &str {
        &self.output.text
    }

    /// The valid naga module.
    pub fn naga(&self) -> &naga::Module {
        &self.naga
    }

    /// The result of naga's validator.
    pub fn info(&self) -> &ModuleInfo {
        &self.info
    }

    /// Compile cost of the module, relative to the limits of [`ModuleOptions::limited`](crate::ModuleOptions::limited): 1 is the limit.
    pub fn share_of_limits(&self) -> f64 {
        crate::cost::share(&self.naga, &self.info)
    }

    /// Converts it into the naga module, if you do not need the text.
    pub fn into_naga(self) -> (naga::Module, ModuleInfo) {
        (self.naga, self.info)
    }

    /// The origin of a byte of [`Module::text`], for messages of drivers and debuggers. Bytes between two texts belong to the end of the
    /// first one. `None` before the first text.
    pub fn locate(&self, byte: usize) -> Option<Location> {
        let origin = self.output.origin(&(byte..byte + 1))?;
        let source = self.sources.get(origin.piece)?;
        Some(Location {
            file: source.file.clone(),
            at: LineColumn::of(&source.text, origin.span.start),
        })
    }

    /// An error of the text that these bytes of the module came from.
    pub(crate) fn error_at(&self, span: Option<Range<usize>>, message: String) -> KernelError {
        let origin = span.and_then(|span| self.output.origin(&span));
        let source = origin.as_ref().and_then(|o| self.sources.get(o.piece));
        match (origin, source) {
            (Some(o), Some(source)) => KernelError::at(&source.file, &source.text, o.span, message),
            _ => KernelError::at("generated", self.text(), 0..0, message),
        }
    }

    /// Entry points with the facts that a pipeline needs, in order of declaration.
    pub fn entry_points(&self) -> Vec<EntryPoint> {
        reflect::entry_points(&self.naga, &self.info)
    }

    /// Memory layout of a structure; `name` is its name in the module. `None` if there is no such structure.
    pub fn struct_layout(&self, name: &str) -> Option<StructLayout> {
        reflect::struct_layout(&self.naga, name)
    }
}
