//! A module that passed every check.

use naga::valid::ModuleInfo;

use crate::error::LineColumn;
use crate::pieces::Piece;
use crate::reflect::{self, EntryPoint, StructLayout};
use crate::source_map::Output;

/// A checked module: its text, what naga made of it, and where each byte came from.
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

/// A place in one of the texts that a module was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the snippet or of the generated text.
    pub file: String,
    /// Where in it.
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

    /// The WGSL text. Implementations other than naga want `enable subgroups;` in front of it where
    /// [`ModuleOptions::subgroups`](crate::ModuleOptions::subgroups) was set; naga refuses that line.
    pub fn text(&self) -> &str {
        &self.output.text
    }

    /// naga's form of the module, valid.
    pub fn naga(&self) -> &naga::Module {
        &self.naga
    }

    /// What naga's validator learnt of the module.
    pub fn info(&self) -> &ModuleInfo {
        &self.info
    }

    /// What a driver has to compile: 1 where that is as much as [`ModuleOptions::limited`](crate::ModuleOptions::limited) allows.
    pub fn share_of_limits(&self) -> f64 {
        crate::cost::share(&self.naga, &self.info)
    }

    /// Hands over naga's form, for those who need not the text.
    pub fn into_naga(self) -> (naga::Module, ModuleInfo) {
        (self.naga, self.info)
    }

    /// The text that a byte of [`Module::text`] came from: for messages of drivers and debuggers. What stands between two texts
    /// counts as the end of the first; nothing comes before the first.
    pub fn locate(&self, byte: usize) -> Option<Place> {
        let origin = self.output.origin(&(byte..byte + 1))?;
        let source = self.sources.get(origin.piece)?;
        Some(Place {
            file: source.file.clone(),
            at: LineColumn::of(&source.text, origin.span.start),
        })
    }

    /// Entry points with all that a pipeline needs to know, in order of their declaration.
    pub fn entry_points(&self) -> Vec<EntryPoint> {
        reflect::entry_points(&self.naga, &self.info)
    }

    /// How a structure lies in memory; `name` is its name in the module. Nothing where there is no such structure.
    pub fn struct_layout(&self, name: &str) -> Option<StructLayout> {
        reflect::struct_layout(&self.naga, name)
    }
}
