//! Builds one module from texts and checks it.
//!
//! [`ModuleBuilder::finish`] writes all texts with their final names, parses and validates the result with naga, and checks barriers and
//! limits. naga stops at its first problem. To report more than one, the function with the problem is replaced by a stub that returns a
//! default value, and the module is checked again: at most 16 times, and no more than a megabyte of text in all. A problem without a
//! location is searched for by leaving out statements.

use std::collections::{BTreeMap, HashSet};

use crate::brackets::{self, Problem};
use crate::error::{KernelError, KernelErrors};
use crate::findings::Finding;
use crate::module::Module;
use crate::pieces::{self, Cut, Cuts, Generated, Instance, Piece};
use crate::report::{OUR_FAULT, Reporter};
use crate::scan;
use crate::snippet::{self, Snippet, SnippetKind};
use crate::tokens::{self, TokenKind};
use crate::unlocated;

/// Limit of problems in different functions; each costs one more check of the module.
const ROUNDS: usize = 16;
/// Bytes that all these checks together may process.
const EFFORT: usize = 1 << 20;
/// Language extensions that naga supports and every adapter offers.
const REQUIRABLE: [&str; 3] = [
    "readonly_and_readwrite_storage_textures",
    "packed_4x8_integer_dot_product",
    "pointer_composite_access",
];

/// Features beyond core WebGPU that a module may use. Each needs an adapter that supports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModuleOptions {
    /// Subgroup operations.
    pub subgroups: bool,
    /// The type `f16`.
    pub f16: bool,
    /// Variables in `var<immediate>`.
    pub immediates: bool,
    /// Whether the compile cost of the module is limited ([`MOST_OPERATIONS`](crate::MOST_OPERATIONS),
    /// [`MOST_VARIABLE_BYTES`](crate::MOST_VARIABLE_BYTES), [`MOST_WORKGROUP_BYTES`](crate::MOST_WORKGROUP_BYTES)). Set it for untrusted
    /// text.
    pub limited: bool,
}

impl ModuleOptions {
    fn capabilities(self) -> naga::valid::Capabilities {
        use naga::valid::Capabilities as C;
        let core = C::MULTISAMPLED_SHADING | C::CUBE_ARRAY_TEXTURES | C::SHADER_FLOAT16_IN_FLOAT32;
        let extra = [
            (self.subgroups, C::SUBGROUP | C::SUBGROUP_BARRIER),
            (self.f16, C::SHADER_FLOAT16),
            (self.immediates, C::IMMEDIATES),
        ];
        extra
            .into_iter()
            .filter(|(wanted, _)| *wanted)
            .fold(core, |all, (_, c)| all | c)
    }

    fn enables(self, extension: &str) -> bool {
        match extension {
            "f16" => self.f16,
            "subgroups" => self.subgroups,
            _ => false,
        }
    }
}

/// Builds one checked module from generated text and snippets.
///
/// Names cannot collide: declarations of a snippet get its prefix. A snippet reaches declarations of generated text only through the
/// names given to [`ModuleBuilder::add`], and a local variable of a snippet cannot hide them.
#[derive(Clone, Debug, Default)]
pub struct ModuleBuilder {
    options: ModuleOptions,
    pieces: Vec<Piece>,
}

impl ModuleBuilder {
    /// An empty module.
    pub fn new(options: ModuleOptions) -> Self {
        Self {
            options,
            pieces: Vec::new(),
        }
    }

    /// Adds generated text (structures, bindings, accessors, entry points) without changes. `name` appears in messages about errors
    /// of the generated text. The order of declarations does not matter in WGSL.
    pub fn declare(&mut self, name: &str, text: &str) -> &mut Self {
        let tokens = tokens::tokenize(text);
        let found =
            brackets::pair(text, &tokens).and_then(|partners| scan::scan(text, &tokens, &partners));
        let (declarations, fault) = match found {
            Ok(found) => (found.declarations, None),
            Err(problem) => {
                let mut fault = KernelError::at(name, text, problem.span, problem.message);
                fault.help = Some(OUR_FAULT.to_owned());
                (Vec::new(), Some(fault))
            }
        };
        self.pieces.push(Piece::Generated(Generated {
            name: name.to_owned(),
            text: text.to_owned(),
            tokens,
            declarations,
            fault,
        }));
        self
    }

    /// Adds a snippet. You can add the same snippet several times. Its module-scope names get the prefix `prefix`, and each name on the
    /// left of `renames` (an accessor) becomes the name on the right. To keep the name of a helper, list it with the same name twice.
    /// Renaming works on tokens; members, comments and local variables do not change. Returns the name of the entry function in the
    /// module; `None` for a library.
    ///
    /// # Errors
    /// If the snippet declares a name of `renames`, enables a feature that [`ModuleOptions`] do not allow, or if `prefix` or a new name
    /// does not give a valid identifier.
    pub fn add(
        &mut self,
        snippet: &Snippet,
        prefix: &str,
        renames: &[(&str, &str)],
    ) -> Result<Option<String>, KernelErrors> {
        self.check_added(snippet, prefix, renames)?;
        let mut taken: HashSet<String> = pieces::taken_names(&self.pieces)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let mut emitted = |name: &str| {
            let mut name = format!("{prefix}{name}");
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        let own: BTreeMap<String, String> = snippet
            .declared()
            .map(|d| (d.name.to_owned(), emitted(d.name)))
            .collect();
        let name = &snippet.entry().name;
        let entry = match snippet.kind() {
            SnippetKind::Library => None,
            SnippetKind::Body => Some(emitted(name)),
            SnippetKind::Declarations => own.get(name).cloned(),
        };
        self.pieces.push(Piece::Instance(Instance {
            snippet: snippet.clone(),
            own,
            accessors: renames
                .iter()
                .map(|(from, to)| ((*from).to_owned(), (*to).to_owned()))
                .collect(),
            entry: entry.clone(),
        }));
        Ok(entry)
    }

    fn check_added(
        &self,
        snippet: &Snippet,
        prefix: &str,
        renames: &[(&str, &str)],
    ) -> Result<(), KernelErrors> {
        let targets = renames.iter().map(|(_, to)| (*to).to_owned());
        let wrong = std::iter::once(format!("{prefix}x"))
            .chain(targets)
            .find(|n| !tokens::is_name(n));
        if let Some(wrong) = wrong {
            let message = format!("`{wrong}` is not a valid identifier");
            return Err(KernelError::at(snippet.file(), snippet.text(), 0..0, message).into());
        }
        let mut problems = self.directive_problems(snippet);
        let given = |name: &str| renames.iter().any(|(from, _)| *from == name);
        problems.extend(
            snippet
                .declared()
                .filter(|d| given(d.name))
                .map(|d| Problem {
                    span: d.span,
                    message: format!("`{}` is already defined by the graph", d.name),
                    help: Some("choose another name".to_owned()),
                }),
        );
        match problems.is_empty() {
            true => Ok(()),
            false => Err(KernelErrors(snippet::located(
                snippet.file(),
                snippet.text(),
                problems,
            ))),
        }
    }

    fn directive_problems(&self, snippet: &Snippet) -> Vec<Problem> {
        let text = snippet.text();
        let mut out = Vec::new();
        for directive in snippet.directives() {
            let tokens = &snippet.tokens()[directive.clone()];
            let word = tokens[0].text(text);
            if word == "diagnostic" {
                out.push(Problem::new(tokens[0], "a kernel cannot use `diagnostic`"));
                continue;
            }
            for token in tokens.iter().filter(|t| t.kind == TokenKind::ContextName) {
                let extension = token.text(text);
                let allowed = match word {
                    "enable" => self.options.enables(extension),
                    _ => REQUIRABLE.contains(&extension),
                };
                if !allowed {
                    let message = format!("`{extension}` is not available here");
                    out.push(Problem::new(*token, message));
                }
            }
        }
        out
    }

    /// Builds the module and checks all of it: syntax, names, types, and that barriers are in uniform control flow, which naga does not
    /// check. The builder is not changed: you can add more texts and finish again.
    ///
    /// # Errors
    /// At most one problem per function, with locations and names of the snippets' authors. An error in generated text that no snippet
    /// causes is reported as such.
    ///
    /// # Cost
    /// One parse and validation of the whole text, and one more for each function with a problem. naga's time grows with the square of the
    /// length of a function.
    pub fn finish(&self) -> Result<Module, KernelErrors> {
        // An open bracket in generated text would look like an error of the snippet behind it.
        let faults = self.pieces.iter().filter_map(|p| match p {
            Piece::Generated(g) => g.fault.clone(),
            Piece::Instance(_) => None,
        });
        let faults: Vec<KernelError> = faults.collect();
        if !faults.is_empty() {
            return Err(KernelErrors(faults));
        }
        let names = pieces::all_names(&self.pieces);
        let mut cuts = Cuts::new();
        let mut errors: Vec<(usize, KernelError)> = Vec::new();
        let mut read = 0;
        for _ in 0..ROUNDS {
            let output = pieces::write(self.directives(), &self.pieces, &names, &cuts);
            read += output.text.len();
            if read > EFFORT && !errors.is_empty() {
                break;
            }
            let mut findings = match check(&output.text, self.options) {
                Ok((module, info)) if errors.is_empty() => {
                    return Ok(Module::new(output, &self.pieces, module, info));
                }
                Ok(_) => break,
                Err(findings) => findings,
            };
            let reporter = Reporter {
                pieces: &self.pieces,
                names: &names,
                output: &output,
            };
            if let [finding] = &mut findings[..]
                && !reporter.is_placed(finding)
                && output.text.len() < EFFORT / 4
            {
                let fails = |text: &str| fails_alike(text, self.options, &finding.message);
                let directives = self.directives();
                finding.origin = unlocated::locate(directives, &self.pieces, &names, &cuts, fails);
            }
            let before = cuts.len();
            for finding in findings {
                let reported = reporter.report(finding);
                cuts.extend(reported.function.map(|f| (f, Cut::Body)));
                let known = errors.iter().any(|(_, e)| *e == reported.error);
                if !known {
                    errors.push((reported.piece, reported.error));
                }
            }
            if cuts.len() == before {
                break;
            }
        }
        errors.sort_by(|(pa, a), (pb, b)| (pa, a.line, a.column).cmp(&(pb, b.line, b.column)));
        Err(KernelErrors(errors.into_iter().map(|(_, e)| e).collect()))
    }

    fn directives(&self) -> &'static str {
        // naga takes subgroup operations without a directive and refuses it.
        match self.options.f16 {
            true => "enable f16;\n",
            false => "",
        }
    }
}

fn front_end(options: ModuleOptions) -> naga::front::wgsl::Frontend {
    naga::front::wgsl::Frontend::new_with_options(naga::front::wgsl::Options {
        parse_doc_comments: false,
        capabilities: options.capabilities(),
    })
}

fn fails_alike(text: &str, options: ModuleOptions, message: &str) -> bool {
    let found = check(text, options).map(|_| ());
    found.is_err_and(|findings| findings.iter().any(|f| f.message == message))
}

/// naga's front end, naga's validator, barriers, limits; in this order, up to the first that finds something.
fn check(
    text: &str,
    options: ModuleOptions,
) -> Result<(naga::Module, naga::valid::ModuleInfo), Vec<Finding>> {
    let module = front_end(options)
        .parse(text)
        .map_err(|e| vec![crate::front::finding(text, &e)])?;
    let flags = naga::valid::ValidationFlags::all();
    let info = naga::valid::Validator::new(flags, options.capabilities())
        .validate(&module)
        .map_err(|e| vec![crate::validation::finding(text, &module, &e)])?;
    let mut findings = crate::uniformity::check(text, &module);
    if findings.is_empty() && options.limited {
        findings = crate::cost::check(text, &module, &info);
    }
    match findings.is_empty() {
        true => Ok((module, info)),
        false => Err(findings),
    }
}
