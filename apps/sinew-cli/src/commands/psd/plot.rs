//! `sinew psd plot`.

mod arcs;
mod paper;
mod pixels;
mod sphere;

use super::{document, one_driver};
use crate::exit::{Code, Failure, Outcome};
use crate::psd_args::{PlotSize, PsdPlotArgs};
use crate::reporter::Reporter;
use pixels::Pixels;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::prelude::{DrawingBackend, SVGBackend};
use sinew::deform::pose_driver::PoseDriverBind;
use sinew::psd::GraphDriver;
use sinew::psd::sample::{Stage, along_arcs, over_directions};
use std::path::Path;

/// Samples on the way from a pose to the next.
const STEPS: usize = 96;
/// Samples across a map of directions.
const SIDE: usize = 192;

pub(super) fn plot(args: &PsdPlotArgs, reporter: &Reporter) -> Outcome {
    let format = Format::of(&args.output)?;
    let document = document(&args.input, reporter)?;
    let driver = one_driver(&document, args.driver.as_deref(), reporter)?;
    let bind = PoseDriverBind::new(&driver.settings.driver).map_err(|e| {
        let message = format!("{}: driver '{}': {e}", driver.location, driver.name);
        Failure::new(Code::Graph, message)
    })?;
    let figure = if args.sphere {
        sphere_figure(args, &driver, &bind)?
    } else {
        arc_figure(args, &driver, &bind)?
    };
    reporter.check_interrupt()?;
    match format {
        Format::Svg => {
            let text = figure.svg(args.size)?;
            sinew::io::write_text(&args.output, &text).map_err(Failure::output)?;
        }
        Format::Png => {
            let image = figure.image(args.size)?;
            sinew::io::write_png(&args.output, &image).map_err(Failure::output)?;
        }
    }
    reporter.info("written", &format!("wrote {}", args.output.display()));
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
}

impl Format {
    fn of(path: &Path) -> Outcome<Self> {
        let ending = path.extension().and_then(|e| e.to_str());
        match ending.unwrap_or_default().to_lowercase().as_str() {
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            _ => Err(Failure::usage(format!(
                "{}: unknown file extension, expected .svg or .png",
                path.display()
            ))),
        }
    }
}

fn arc_figure(args: &PsdPlotArgs, driver: &GraphDriver, bind: &PoseDriverBind) -> Outcome<Figure> {
    let definition = &driver.settings.driver;
    let stops = match (&args.from, &args.to) {
        (Some(from), Some(to)) => vec![pose(driver, from)?, pose(driver, to)?],
        _ => (0..definition.poses.len()).collect(),
    };
    let stage = if args.solved {
        Stage::Solved
    } else {
        Stage::Final
    };
    let samples = along_arcs(definition, bind, &stops, STEPS, stage).map_err(Failure::usage)?;
    Ok(Figure::Arcs(arcs::Arcs {
        title: title(driver),
        names: names(driver),
        samples,
    }))
}

fn sphere_figure(
    args: &PsdPlotArgs,
    driver: &GraphDriver,
    bind: &PoseDriverBind,
) -> Outcome<Figure> {
    let joints = &driver.settings.joints;
    let joint = match &args.joint {
        None => 0,
        Some(name) => joints.iter().position(|j| j == name).ok_or_else(|| {
            let known = joints.join(", ");
            Failure::usage(format!("there is no driver joint '{name}'; known: {known}"))
        })?,
    };
    let definition = &driver.settings.driver;
    let samples = over_directions(definition, bind, joint, SIDE).map_err(Failure::usage)?;
    Ok(Figure::Sphere(sphere::Sphere {
        title: title(driver),
        names: names(driver),
        samples,
    }))
}

fn title(driver: &GraphDriver) -> String {
    let definition = &driver.settings.driver;
    format!(
        "{}: {}, {}, {}",
        driver.name,
        definition.solver.name(),
        definition.metric.name(),
        definition.kernel.name()
    )
}

fn names(driver: &GraphDriver) -> Vec<String> {
    let poses = driver.settings.driver.poses.iter();
    poses.map(|p| p.name.clone()).collect()
}

fn pose(driver: &GraphDriver, name: &str) -> Outcome<usize> {
    let names = names(driver);
    names.iter().position(|n| n == name).ok_or_else(|| {
        let known = names.join(", ");
        let name_of = &driver.name;
        Failure::usage(format!(
            "driver '{name_of}' has no enabled pose '{name}'; the poses are {known}"
        ))
    })
}

/// What is drawn.
enum Figure {
    Arcs(arcs::Arcs),
    Sphere(sphere::Sphere),
}

/// Units of an SVG's coordinates a pixel: they are whole numbers.
const FINENESS: u32 = 8;
/// Pixels across that are drawn for each that is written.
const SUPERSAMPLING: u32 = 3;

impl Figure {
    fn svg(&self, size: PlotSize) -> Outcome<String> {
        paper::register_font()?;
        let (width, height) = (size.width * FINENESS, size.height * FINENESS);
        let mut text = String::new();
        let root = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
        self.draw(&root, FINENESS)?;
        drop(root);
        let fine = format!("<svg width=\"{width}\" height=\"{height}\"");
        let shown = format!("<svg width=\"{}\" height=\"{}\"", size.width, size.height);
        Ok(text.replacen(&fine, &shown, 1))
    }

    fn image(&self, size: PlotSize) -> Outcome<sinew::geom::Image> {
        paper::register_font()?;
        let mut pixels = Pixels::new(size.width * SUPERSAMPLING, size.height * SUPERSAMPLING);
        let root = (&mut pixels).into_drawing_area();
        self.draw(&root, SUPERSAMPLING)?;
        drop(root);
        Ok(pixels.reduced(SUPERSAMPLING as usize))
    }

    fn draw<DB: DrawingBackend>(&self, root: &DrawingArea<DB, Shift>, scale: u32) -> Outcome {
        let drawn = match self {
            Self::Arcs(figure) => figure.draw(root, scale),
            Self::Sphere(figure) => figure.draw(root, scale),
        };
        let presented = drawn.and_then(|()| root.present());
        presented.map_err(|e| Failure::output(format!("cannot draw the plot: {e}")))
    }
}
