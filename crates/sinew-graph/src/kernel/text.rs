//! Checks a kernel's text against its pins, and finds out what an executor must know of the text.

use super::given::{Given, What, stub_name, stubs};
use super::{BufferWrite, KernelBuffer, written};
use sinew_deform::{Locality, MeshAttribute, NodeDesc};
use sinew_wgsl::tokens::{Token, TokenKind, tokenize};
use sinew_wgsl::{
    CpuAccess, CpuProgram, KernelError, KernelErrors, Module, ModuleBuilder, ModuleOptions,
    Snippet, SnippetKind,
};
use std::collections::BTreeSet;
use std::ops::Range;

/// Names that generated code uses besides those of [`Given`].
const TAKEN: [&str; 2] = ["Uniforms", "uniforms"];
/// Prefix of all other names of generated code.
pub(crate) const TAKEN_PREFIX: &str = "given_";

/// Longest name of a pin, parameter or constant, in bytes.
const LONGEST_NAME: usize = 64;

/// A problem of a text and the bytes where it is.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) bytes: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: String,
}

impl Problem {
    fn new(bytes: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            bytes,
            message: message.into(),
            help: help.into(),
        }
    }
}

/// What an executor must know of a text.
#[derive(Clone, Debug)]
pub(crate) struct Analysis {
    /// All names in it.
    pub(crate) names: BTreeSet<String>,
    /// Whether the text is only the statements of `kernel`.
    pub(crate) is_body: bool,
    /// Byte after the opening brace of `kernel`; 0 for a body.
    pub(crate) body_start: usize,
    /// What `kernel` calls its index.
    pub(crate) index: String,
    pub(crate) locality: Locality,
    /// Attributes that the kernel may leave unwritten for some vertices: those keep the values of the input.
    pub(crate) kept: Vec<(&'static str, MeshAttribute)>,
    /// Buffers with elements that the kernel may leave unwritten or combines with others: they are set before it runs.
    pub(crate) cleared: BTreeSet<&'static str>,
    /// Whether threads can share the elements on the CPU: no two of them may write one element of a buffer.
    pub(crate) threads: bool,
    /// As [`sinew_deform::DeviceNode::compile_share`].
    pub(crate) compile_share: f64,
}

/// The declaration around a text.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) desc: &'static NodeDesc,
    pub(crate) buffers: &'a [KernelBuffer],
    pub(crate) given: &'a [Given],
    /// Whether a buffer has one element for each invocation.
    pub(crate) one_each: &'a dyn Fn(&KernelBuffer) -> bool,
}

/// All names in a text, right or wrong.
pub(crate) fn names(text: &str) -> BTreeSet<String> {
    let tokens = tokenize(text);
    let names = tokens.iter().filter(|t| t.kind == TokenKind::Name);
    names.map(|t| t.text(text).to_owned()).collect()
}

/// The functions that each invocation calls for its own element; none if the text has an error.
pub(crate) fn sure_calls(text: &str) -> BTreeSet<String> {
    let Ok(snippet) = Snippet::parse("", text) else {
        return BTreeSet::new();
    };
    let calls = Body::of(&snippet).sure_calls(text);
    calls.into_iter().map(str::to_owned).collect()
}

/// Checks a name for use in a kernel, either `alone` or as a part of other names.
///
/// # Errors
/// Why the name cannot be used.
pub(crate) fn check_name(name: &str, alone: bool) -> Result<(), String> {
    if name.starts_with(TAKEN_PREFIX) || TAKEN.contains(&name) {
        return Err(format!("`{name}` is reserved for generated code"));
    }
    if name.len() > LONGEST_NAME {
        return Err(format!("a name has at most {LONGEST_NAME} characters"));
    }
    let usual = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let starts = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    if !usual || !starts || name.contains("__") {
        return Err(
            "a name in a kernel consists of letters, digits and single underscores, and begins with a letter"
                .into(),
        );
    }
    if !alone {
        return Ok(());
    }
    let declared = Snippet::parse_library("", &format!("const {name} = 1;"));
    declared.map(|_| ()).map_err(|e| {
        let first = e.0.into_iter().next();
        first.map_or_else(String::new, |e| e.message)
    })
}

/// Checks a text.
///
/// # Errors
/// Every problem found.
pub(crate) fn check(file: &str, text: &str, around: Around<'_>) -> Result<Analysis, Vec<Problem>> {
    let located = |errors: &KernelErrors| -> Vec<Problem> {
        errors.0.iter().map(|e| problem(file, text, e)).collect()
    };
    let snippet = Snippet::parse(file, text).map_err(|e| located(&e))?;
    let body = Body::of(&snippet);
    let mut problems = taken_names(&snippet);
    problems.extend(pin_problems(&snippet, around));
    problems.extend(foreign_writes(&snippet, &body, around));
    problems.extend(uncalled_parameters(&snippet, around));
    problems.extend(workgroup_memory(&snippet));
    let finished = finish(&snippet, around.given);
    if let Err(errors) = &finished {
        for mut found in located(errors) {
            let known = |p: &Problem| p.bytes.start == found.bytes.start;
            if problems.iter().any(known) {
                continue;
            }
            if found.help.is_empty() && found.message.starts_with("unknown function") {
                found.help = functions_like(&found.message, around);
            }
            if found.help.is_empty() && found.message.contains("is not reached by all threads") {
                found.help =
                    "a kernel cannot use barriers: threads beyond the last element do not run it"
                        .into();
            }
            problems.push(found);
        }
    }
    if !problems.is_empty() {
        problems.sort_by_key(|p| p.bytes.start);
        return Err(problems);
    }
    let compile_share = finished.map_or(1.0, |module| module.share_of_limits());
    Ok(analyse(&snippet, body, around, compile_share))
}

/// Help for an unknown function: the functions with the same verb, or the pins.
fn functions_like(message: &str, around: Around<'_>) -> String {
    let asked = message.split('`').nth(1).unwrap_or_default().to_lowercase();
    let does = [
        "read", "write", "add", "min", "max", "last", "sample", "gradient",
    ]
    .into_iter()
    .find(|does| asked.starts_with(does));
    let Some(does) = does else {
        return format!(
            "{}; docs/nodes/kernel.md lists the functions",
            pins(around.desc)
        );
    };
    let all = around.given.iter().map(|g| g.name.as_str());
    let fit = all.filter(|name| name.split('_').next() == Some(does));
    let like = sinew_deform::names::nearest(&asked[does.len()..], fit, 3);
    match like.is_empty() {
        true => format!(
            "{}; docs/nodes/kernel.md lists the functions",
            pins(around.desc)
        ),
        false => format!(
            "functions that {does} are `{}`; docs/nodes/kernel.md lists all functions",
            like.join("`, `")
        ),
    }
}

/// `its pins are ...`.
fn pins(desc: &NodeDesc) -> String {
    let names = |ports: &[sinew_deform::PortDesc]| {
        let names: Vec<String> = ports.iter().map(|p| format!("`{}`", p.name)).collect();
        names.join(", ")
    };
    let (inputs, outputs) = (names(desc.inputs), names(desc.outputs));
    format!("its inputs are {inputs}, its outputs are {outputs}")
}

fn problem(file: &str, text: &str, error: &KernelError) -> Problem {
    if error.file != file {
        // The error is in generated code, and must not look like the user's mistake.
        let help = format!("in generated code: {}", error.one_line());
        let first = text.chars().next().map_or(0, char::len_utf8);
        return Problem::new(0..first, error.message.clone(), help);
    }
    let source = super::source::Source::file(0, text);
    let bytes = source.bytes_of(error.line, error.column, error.length);
    let help = error.help.clone().unwrap_or_default();
    Problem::new(bytes, error.message.clone(), help)
}

/// Joins the text with stub functions that have the right types and empty bodies. Checks that GPUs and the CPU can run it.
fn finish(snippet: &Snippet, given: &[Given]) -> Result<Module, KernelErrors> {
    let mut builder = ModuleBuilder::new(ModuleOptions {
        limited: true,
        ..ModuleOptions::default()
    });
    let stubs_of: Vec<String> = (0..given.len()).map(stub_name).collect();
    let renames = given.iter().zip(&stubs_of);
    let renames: Vec<(&str, &str)> = renames
        .map(|(g, stub)| (g.name.as_str(), stub.as_str()))
        .collect();
    let entry = builder.add(snippet, "sinew_kernel_", &renames)?;
    let entry = entry.unwrap_or_default();
    builder.declare("generated", &stubs(given, &entry));
    let module = builder.finish()?;
    let access = |g: &Given| match g.what {
        What::Read { .. } | What::Lookup { .. } => Some(CpuAccess::Read { buffer: 0 }),
        What::Write { .. } => Some(CpuAccess::Write { buffer: 0 }),
        What::Constant { .. } | What::Value { .. } => None,
    };
    let accesses = given.iter().zip(stubs_of);
    let accesses = accesses.filter_map(|(g, stub)| Some((stub, access(g)?)));
    CpuProgram::new(&module, &entry, &accesses.collect())?;
    Ok(module)
}

/// Variables that the invocations of a workgroup would share.
fn workgroup_memory(snippet: &Snippet) -> Vec<Problem> {
    let text = snippet.text();
    let tokens = tokenize(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| t.text(text));
    let variables = (0..tokens.len()).filter(|&i| word(i) == "var" && word(i + 2) == "workgroup");
    let message = "a kernel cannot use workgroup memory, because it has no barriers";
    let help = "write `var<private>` for memory of one element, or pass data to another kernel in a buffer";
    variables
        .map(|i| Problem::new(tokens[i + 2].span(), message, help))
        .collect()
}

fn name_tokens(snippet: &Snippet) -> Vec<Token> {
    let mut tokens = tokenize(snippet.text());
    tokens.retain(|t| t.kind == TokenKind::Name);
    tokens
}

fn taken_names(snippet: &Snippet) -> Vec<Problem> {
    let problem = |name: &str, bytes: Range<usize>| {
        let message = format!("the name `{name}` is reserved for generated code");
        Problem::new(bytes, message, "choose another name")
    };
    let declared = snippet.declared();
    let taken = declared
        .filter(|d| TAKEN.contains(&d.name))
        .map(|d| problem(d.name, d.span));
    // A local variable could hide the counters of generated code.
    let mut seen = BTreeSet::new();
    let prefixed = name_tokens(snippet)
        .into_iter()
        .map(|t| (t.text(snippet.text()), t.span()))
        .filter(|(name, _)| name.starts_with(TAKEN_PREFIX) && seen.insert(name.to_owned()))
        .map(|(name, bytes)| problem(name, bytes));
    taken.chain(prefixed).collect()
}

/// Reads and writes that a pin does not allow.
fn pin_problems(snippet: &Snippet, around: Around<'_>) -> Vec<Problem> {
    let declared: BTreeSet<&str> = snippet.declared().map(|d| d.name).collect();
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for token in name_tokens(snippet) {
        let name = token.text(snippet.text());
        let given = around.given.iter().any(|g| g.name == name);
        if !given
            && !declared.contains(name)
            && seen.insert(name)
            && let Some((message, help)) = pin_problem(name, around)
        {
            out.push(Problem::new(token.span(), message, help));
        }
    }
    out
}

fn pin_problem(name: &str, around: Around<'_>) -> Option<(String, String)> {
    let (verb, pin) = name.split_once('_')?;
    let buffer = around.buffers.iter().find(|b| b.name == pin);
    let is_input = |pin: &str| around.desc.input(pin).is_some();
    match (verb, buffer) {
        ("read", Some(b)) if !is_input(pin) => Some((
            format!("`{pin}` is an output, which its kernel cannot read"),
            match b.persistent {
                true => format!("`{}(i)` is what it held before this frame", b.last()),
                false => "link it to an input of another kernel, and read it there".into(),
            },
        )),
        ("last", Some(_)) => Some((
            format!("the output `{pin}` is empty at the start of each frame"),
            "add \"persistent\": true to keep what it held before".into(),
        )),
        (_, Some(b)) => {
            let meant = BufferWrite::ALL.into_iter().find(|w| w.verb() == verb)?;
            let (accepts, not) = (b.write.accepts(), meant.accepts());
            let (own, word) = (b.write.verb(), meant.word());
            Some((
                format!("the output `{pin}` accepts {accepts}, not {not}"),
                format!("use `{own}_{pin}(i, v)`, or declare it with \"write\": \"{word}\""),
            ))
        }
        ("write" | "add" | "min" | "max", None) => mesh_problem(pin, around.desc),
        _ => None,
    }
}

/// `pin` is the name of a buffer, or of a mesh followed by an attribute.
fn mesh_problem(pin: &str, desc: &NodeDesc) -> Option<(String, String)> {
    let attribute = MeshAttribute::ALL.into_iter().find_map(|a| {
        let mesh = pin.strip_suffix(a.wgsl_name())?.strip_suffix('_')?;
        Some((mesh, a.wgsl_name()))
    });
    let (name, what) = attribute.unwrap_or((pin, ""));
    if desc.output(name).is_some() && !what.is_empty() {
        return Some((
            format!("the output `{name}` does not declare that it writes {what}"),
            format!("add \"{what}\" to its \"writes\""),
        ));
    }
    desc.input(name)?;
    let declare = match what {
        "" => format!("\"{name}\": {{ \"type\": \"buffer\", ... }}"),
        what => format!("\"{name}\": {{ \"type\": \"mesh\", \"writes\": [\"{what}\"] }}"),
    };
    Some((
        format!("`{name}` is an input, which a kernel can only read"),
        format!("declare an output: \"outputs\": {{ {declare} }}"),
    ))
}

/// The statements of `kernel`.
struct Body {
    tokens: Vec<Token>,
    /// Tokens between its braces.
    range: Range<usize>,
    start: usize,
    index: String,
}

impl Body {
    fn of(snippet: &Snippet) -> Self {
        let text = snippet.text();
        let tokens = tokenize(text);
        let word = |i: usize| tokens.get(i).map_or("", |t| t.text(text));
        let whole = Self {
            range: 0..tokens.len(),
            start: 0,
            index: "index".into(),
            tokens: Vec::new(),
        };
        if snippet.kind() == SnippetKind::Body {
            return Self { tokens, ..whole };
        }
        let entry = (0..tokens.len()).find(|&i| word(i) == "fn" && word(i + 1) == "kernel");
        let Some(entry) = entry else {
            return Self { tokens, ..whole };
        };
        let open = (entry..tokens.len()).find(|&i| word(i) == "{");
        let open = open.unwrap_or(tokens.len());
        let mut depth = 0_usize;
        let close = (open..tokens.len()).find(|&i| {
            match word(i) {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        Self {
            range: (open + 1).min(tokens.len())..close.unwrap_or(tokens.len()),
            start: tokens.get(open).map_or(0, |t| t.end),
            index: word(entry + 3).to_owned(),
            tokens,
        }
    }

    fn word<'t>(&self, text: &'t str, i: usize) -> &'t str {
        self.tokens.get(i).map_or("", |t| t.text(text))
    }

    /// Whether token `i` calls `accessor` for the kernel's own element.
    fn calls_own(&self, text: &str, i: usize, accessor: &str) -> bool {
        self.word(text, i) == accessor
            && self.word(text, i + 1) == "("
            && self.word(text, i + 2) == self.index
            && matches!(self.word(text, i + 3), "," | ")")
    }

    /// The functions that each invocation calls for its own element with any data: outside of branches and before any `return`.
    fn sure_calls<'t>(&self, text: &'t str) -> BTreeSet<&'t str> {
        let mut depth = 0_usize;
        let mut out = BTreeSet::new();
        for i in self.range.clone() {
            match self.word(text, i) {
                "return" => break,
                "{" | "(" => depth += 1,
                "}" | ")" => depth = depth.saturating_sub(1),
                word if depth == 0 && self.calls_own(text, i, word) => _ = out.insert(word),
                _ => {}
            }
        }
        out
    }
}

/// Finds mesh attributes written at another index than the kernel's own: two invocations could then write one element.
fn foreign_writes(snippet: &Snippet, body: &Body, around: Around<'_>) -> Vec<Problem> {
    let text = snippet.text();
    let mut out = Vec::new();
    for (port, attribute) in written(around.desc) {
        let accessor = format!("write_{port}_{}", attribute.wgsl_name());
        if snippet.touches_only_own(&accessor) {
            continue;
        }
        let mut places = (0..body.tokens.len()).filter(|&i| body.word(text, i) == accessor);
        let foreign = places
            .clone()
            .find(|&i| !body.range.contains(&i) || !body.calls_own(text, i, &accessor));
        if let Some(token) = foreign.or_else(|| places.next()).map(|i| body.tokens[i]) {
            let message = "a kernel may write mesh attributes only for its own vertex, inside the function `kernel`";
            let help = format!(
                "call `{accessor}({}, ...)`; to write other elements, use a buffer output",
                body.index
            );
            out.push(Problem::new(token.span(), message, help));
        }
    }
    out
}

/// Parameters are functions: `blend()`.
fn uncalled_parameters(snippet: &Snippet, around: Around<'_>) -> Vec<Problem> {
    let text = snippet.text();
    let tokens = tokenize(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| t.text(text));
    let mut out = Vec::new();
    for p in around.desc.parameters {
        let uses =
            (0..tokens.len()).filter(|&i| tokens[i].kind == TokenKind::Name && word(i) == p.name);
        let is_local = uses.clone().any(|i| {
            i > 0 && tokens[i - 1].kind == TokenKind::Keyword && word(i - 1) != "return"
                || word(i + 1) == ":"
        });
        if let Some(i) = uses.clone().find(|&i| word(i + 1) != "(" && !is_local) {
            let message = format!("the parameter `{}` is a function", p.name);
            let help = format!("call it: `{}()`", p.name);
            out.push(Problem::new(tokens[i].span(), message, help));
        }
    }
    out
}

fn analyse(snippet: &Snippet, body: Body, around: Around<'_>, compile_share: f64) -> Analysis {
    let text = snippet.text();
    let names: BTreeSet<String> = snippet.names().into_iter().map(str::to_owned).collect();
    let sure = body.sure_calls(text);
    let kept = written(around.desc)
        .filter(|(port, a)| !sure.contains(format!("write_{port}_{}", a.wgsl_name()).as_str()))
        .collect();
    let whole = |b: &&KernelBuffer| {
        let accessor = format!("write_{}", b.name);
        b.write == BufferWrite::Write
            && !b.persistent
            && (around.one_each)(b)
            && snippet.touches_only_own(&accessor)
            && sure.contains(accessor.as_str())
    };
    let partly = around.buffers.iter().filter(|b| !whole(b));
    let cleared: BTreeSet<&'static str> = partly.map(|b| b.name).collect();
    let reads_own = around.given.iter().all(|g| match g.what {
        What::Read { linked: true, .. } => snippet.touches_only_own(&g.name),
        // A field is read anywhere.
        What::Lookup { .. } => !names.contains(&g.name),
        _ => true,
    });
    let locality = match (cleared.is_empty(), reads_own) {
        (false, _) => Locality::Scatter,
        (true, false) => Locality::Gather,
        (true, true) => Locality::Own,
    };
    let threads = around.buffers.iter().all(|b| {
        b.write != BufferWrite::Write
            || (around.one_each)(b) && snippet.touches_only_own(&format!("write_{}", b.name))
    });
    Analysis {
        names,
        threads,
        compile_share,
        is_body: snippet.kind() == SnippetKind::Body,
        body_start: body.start,
        index: body.index,
        locality,
        kept,
        cleared,
    }
}
