//! One function a command.

mod bench;
mod check;
mod convert;
mod demo;
mod doctor;
mod field;
mod hair;
mod inspect;
mod nodes;
mod psd;
#[cfg(feature = "gpu")]
mod render;
mod run;
mod skin;
mod vat;

use crate::args::{Args, Command, EmbedArgs, InitArgs, TemplateName};
use crate::bake_args::BakeCommand;
use crate::exit::{Failure, Outcome};
use crate::load;
use crate::reporter::Reporter;
use sinew::io::{IoError, gltf_write};
use sinew::play::{Character, Document, Template};
use std::path::Path;

pub(crate) use run::run_frames;

pub(crate) fn dispatch(args: &Args, reporter: &Reporter) -> Outcome {
    match &args.command {
        Command::Run(a) => run::run(a, reporter),
        #[cfg(feature = "gpu")]
        Command::Render(a) => render::render(a, reporter),
        #[cfg(not(feature = "gpu"))]
        Command::Render(_) => Err(crate::device::without_gpu()),
        Command::Check(a) => check::check(a, reporter),
        Command::Inspect(a) => inspect::inspect(a, reporter),
        Command::Nodes(a) => nodes::nodes(a, reporter),
        Command::Psd(a) => psd::psd(a, reporter),
        Command::Hair(a) => hair::hair(a, reporter),
        Command::Field(a) => field::field(a, reporter),
        Command::Bake(BakeCommand::Vat(a)) => vat::bake_vat(a, reporter),
        Command::Bake(BakeCommand::Skin(a)) => skin::bake_skin(a, reporter),
        Command::Vat(a) => vat::vat(a, reporter),
        Command::Schema => schema(reporter),
        Command::Init(a) => init(a, args.force, reporter),
        Command::Embed(a) => embed(a, reporter),
        Command::Convert(a) => convert::convert(a, reporter),
        Command::Demo(a) => demo::demo(a, reporter),
        Command::Bench(a) => bench::bench(a, reporter),
        Command::Doctor => doctor::doctor(reporter),
        Command::Completions { shell } => {
            let mut out = Vec::new();
            clap_complete::generate(*shell, &mut crate::args::command(), "sinew", &mut out);
            reporter.print(&String::from_utf8_lossy(&out));
            Ok(())
        }
        Command::Man => {
            let mut out = Vec::new();
            clap_mangen::Man::new(crate::args::command())
                .render(&mut out)
                .map_err(Failure::output)?;
            reporter.print(&String::from_utf8_lossy(&out));
            Ok(())
        }
    }
}

fn schema(reporter: &Reporter) -> Outcome {
    let text = serde_json::to_string_pretty(&sinew::graph::schema()).map_err(Failure::output)?;
    reporter.print(&text);
    Ok(())
}

fn init(args: &InitArgs, force: bool, reporter: &Reporter) -> Outcome {
    if args.file.exists() && !force {
        return Err(Failure::usage(format!(
            "{} already exists; overwrite it with --force",
            args.file.display()
        )));
    }
    let (starter, character) = match (&args.character, &args.example) {
        (None, None) => (Document::starter(), "CHARACTER.glb".to_owned()),
        (None, Some(name)) => {
            let name = load::example_name(name).unwrap_or(name);
            let example = load::example(name)?;
            let document = Document::from_text(name, example.graph, "");
            (document, format!("sample:{}", example.sample))
        }
        (Some(path), _) => {
            let character = load::character(path, reporter)?;
            let template = template(args.template.unwrap_or(TemplateName::Body));
            if args.joint.is_some() && template != Template::Driver {
                return Err(Failure::usage("--joint is for --template driver"));
            }
            let document = Document::from_template(&character, template, args.joint.as_deref());
            (
                document.map_err(Failure::usage)?,
                path.display().to_string(),
            )
        }
    };
    sinew::io::write_text(&args.file, &starter.text).map_err(Failure::output)?;
    let file = args.file.display();
    let next = match args.template {
        Some(TemplateName::Vat) => format!("sinew bake vat {character} --graph {file} -o vat"),
        Some(TemplateName::Hair) => {
            format!("sinew render {character} --graph {file} -o hair.png")
        }
        _ => format!("sinew run {character} --graph {file} -o out.glb"),
    };
    reporter.info("written", &format!("wrote {file}; try: {next}"));
    Ok(())
}

fn template(name: TemplateName) -> Template {
    match name {
        TemplateName::Body => Template::Body,
        TemplateName::Face => Template::Face,
        TemplateName::Cloth => Template::Cloth,
        TemplateName::Hair => Template::Hair,
        TemplateName::Vat => Template::Vat,
        TemplateName::Driver => Template::Driver,
    }
}

fn embed(args: &EmbedArgs, reporter: &Reporter) -> Outcome {
    let document = load::document(&args.graph, reporter)?;
    load::compile(&document, reporter)?;
    let plain = sinew::graph::to_plain_json(&document.name, &document.text)
        .map_err(|e| Failure::new(crate::exit::Code::Graph, e))?;
    if load::is_vrm_name(&args.output) {
        let character = load::silent_rest(&args.character, reporter)?;
        load::check_vrm_output(&args.output, &character)?;
    }
    let written = match load::in_memory(&args.character, reporter) {
        Some(found) => write_with_graph(&*found?, &plain, &args.output, reporter),
        None => gltf_write::embed_graph(&args.character, &plain, &args.output),
    };
    written.map_err(|e| match e {
        IoError::Write { .. } => Failure::output(e),
        _ => Failure::input(e),
    })?;
    reporter.info("written", &format!("wrote {}", args.output.display()));
    Ok(())
}

/// A character that has no file, as a GLB.
fn write_with_graph(
    character: &Character,
    graph: &str,
    output: &Path,
    reporter: &Reporter,
) -> Result<(), IoError> {
    let source = character.source.as_ref();
    let (glb, warnings) = gltf_write::converted_glb(&character.path, &character.asset, source)?;
    for w in warnings {
        reporter.warning(w.code, &w.message);
    }
    let glb = gltf_write::with_graph(&glb, graph, output)?;
    sinew::io::write_bytes(output, &glb)
}
