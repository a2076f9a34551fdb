//! One function a command.

mod bench;
mod check;
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

use crate::args::{Args, Command, EmbedArgs, InitArgs};
use crate::bake_args::BakeCommand;
use crate::exit::{Failure, Outcome};
use crate::load;
use crate::talk::{Talk, print};
use clap::CommandFactory;
use sinew::io::IoError;
use sinew::play::Document;

pub(crate) use run::run_frames;

pub(crate) fn dispatch(args: &Args, talk: &Talk) -> Outcome {
    match &args.command {
        Command::Run(a) => run::run(a, talk),
        #[cfg(feature = "gpu")]
        Command::Render(a) => render::render(a, talk),
        #[cfg(not(feature = "gpu"))]
        Command::Render(_) => Err(crate::device::without_graphics()),
        Command::Check(a) => check::check(a, talk),
        Command::Inspect(a) => inspect::inspect(a, talk),
        Command::Nodes(a) => nodes::nodes(a, talk),
        Command::Psd(a) => psd::psd(a, talk),
        Command::Hair(a) => hair::hair(a, talk),
        Command::Field(a) => field::field(a, talk),
        Command::Bake(BakeCommand::Vat(a)) => vat::bake_vat(a, talk),
        Command::Bake(BakeCommand::Skin(a)) => skin::bake_skin(a, talk),
        Command::Vat(a) => vat::vat(a, talk),
        Command::Schema => schema(),
        Command::Init(a) => init(a, args.force, talk),
        Command::Embed(a) => embed(a, talk),
        Command::Demo(a) => demo::demo(a, talk),
        Command::Bench(a) => bench::bench(a, args.log_format, talk),
        Command::Doctor => doctor::doctor(args.log_format, talk),
        Command::Completions { shell } => {
            let mut out = Vec::new();
            clap_complete::generate(*shell, &mut Args::command(), "sinew", &mut out);
            print(&String::from_utf8_lossy(&out));
            Ok(())
        }
        Command::Man => {
            let mut out = Vec::new();
            clap_mangen::Man::new(Args::command())
                .render(&mut out)
                .map_err(Failure::output)?;
            print(&String::from_utf8_lossy(&out));
            Ok(())
        }
    }
}

fn schema() -> Outcome {
    let text = serde_json::to_string_pretty(&sinew::graph::schema()).map_err(Failure::output)?;
    print(&text);
    Ok(())
}

fn init(args: &InitArgs, force: bool, talk: &Talk) -> Outcome {
    if args.file.exists() && !force {
        return Err(Failure::output(format!(
            "{} already exists; overwrite it with --force",
            args.file.display()
        )));
    }
    let (starter, character) = match &args.character {
        None => (Document::starter(), "CHARACTER.glb".to_owned()),
        Some(path) => {
            let character = load::character(path, talk)?;
            (
                Document::starter_for(&character),
                path.display().to_string(),
            )
        }
    };
    sinew::io::write_text(&args.file, &starter.text).map_err(Failure::output)?;
    let file = args.file.display();
    let message = format!("wrote {file}; try: sinew run {character} --graph {file} -o out.glb");
    talk.info("written", &message);
    Ok(())
}

fn embed(args: &EmbedArgs, talk: &Talk) -> Outcome {
    let document = load::document(&args.graph, talk)?;
    load::compile(&document, talk)?;
    let plain = sinew::graph::to_plain_json(&document.name, &document.text)
        .map_err(|e| Failure::new(crate::exit::Code::Graph, e))?;
    sinew::io::gltf_write::embed_graph(&args.character, &plain, &args.output).map_err(
        |e| match e {
            IoError::Write { .. } => Failure::output(e),
            _ => Failure::input(e),
        },
    )?;
    talk.info("written", &format!("wrote {}", args.output.display()));
    Ok(())
}
