//! Pictures of one evaluation of a graph.

use crate::exit::{Failure, Outcome};
use sinew::deform::{Line, Par};
use sinew::geom::{Asset, vec3};
use sinew::graph::{Frame, Instance, NoNesting, compile};
use sinew::io::Folders;
use sinew::play::{Character, PlayInputs};
use sinew_picture::{
    Background, Camera, ColorMap, Image, LinePicture, MeshPicture, Picture, Scale, ScaleBarStyle,
    draw_scale_bar,
};
use std::sync::Arc;

/// Frames a second of the clips of samples.
pub(super) const RATE: f64 = 30.0;
/// Width and height of a picture.
pub(super) const PANEL: usize = 480;
/// Of strands, linear RGB.
const HAIR: [f32; 3] = [0.05, 0.025, 0.012];
/// Pictures of differences have this background, so that their dark low end stays visible.
const PAPER: [u8; 4] = [255; 4];

/// What one evaluation looks like.
#[derive(Default)]
pub(super) struct Look {
    pub(super) positions: Vec<[f32; 3]>,
    pub(super) normals: Option<Vec<[f32; 3]>>,
    pub(super) colors: Option<Vec<[f32; 4]>>,
    pub(super) lines: Vec<LinePicture>,
}

impl Look {
    /// All ends of its parts.
    pub(super) fn points(&self) -> impl Iterator<Item = [f32; 3]> + '_ {
        let ends = self.lines.iter().flat_map(|l| [l.from, l.to]);
        self.positions.iter().copied().chain(ends)
    }
}

pub(super) fn character(asset: &Asset) -> Arc<Character> {
    Arc::new(Character::from_asset(asset.clone()))
}

/// A frame, after all before it where the graph simulates.
pub(super) fn evaluate(asset: &Asset, graph: &str, frame: u32) -> Outcome<Look> {
    let plan = Arc::new(compile("demo", graph, &NoNesting).map_err(Failure::bind)?);
    let mut cast = PlayInputs::load(character(asset), &plan, &Folders::default())?;
    let mut instance =
        Instance::bind(plan.clone(), cast.bindings(), &[], Par::Rayon).map_err(Failure::bind)?;
    let clip = asset.clips.first().map(|c| c.name.as_str());
    let first = match plan.solvers().next() {
        Some(_) => 0,
        None => frame,
    };
    for number in first..=frame {
        let at_secs = f64::from(number) / RATE;
        let dt = if number == first { 0.0 } else { 1.0 / RATE };
        cast.pose(clip, at_secs);
        let now = Frame::at(at_secs).dt(dt).pose(cast.poses().first());
        instance.update(&now, Par::Rayon).map_err(Failure::bind)?;
    }
    let body = instance
        .mesh_output("body")
        .ok_or_else(|| Failure::bind("the graph has no output 'body'"))?;
    let outputs = || plan.outputs().iter();
    let debug = outputs().filter_map(|o| instance.line_output(&o.name));
    let mut lines: Vec<LinePicture> = debug.flatten().map(line).collect();
    for output in outputs().filter(|o| o.name != "body") {
        if let Some(mesh) = instance.mesh_output(&output.name) {
            lines.extend(strands(asset, mesh.positions)?);
        }
    }
    Ok(Look {
        positions: body.positions.to_vec(),
        normals: body.normals.map(<[_]>::to_vec),
        colors: body.colors.map(<[_]>::to_vec),
        lines,
    })
}

fn line(l: &Line) -> LinePicture {
    LinePicture {
        from: l.from,
        to: l.to,
        color: [l.color[0], l.color[1], l.color[2]],
    }
}

/// The strands of a character at these positions; nothing if they are of something else.
fn strands(asset: &Asset, positions: &[[f32; 3]]) -> Outcome<Vec<LinePicture>> {
    let mesh = asset
        .merged_strands(&Default::default())
        .map_err(Failure::bind)?;
    let Some(strands) = mesh.topology.strands() else {
        return Ok(Vec::new());
    };
    if mesh.vertex_count() != positions.len() {
        return Ok(Vec::new());
    }
    let at = |v: u32| positions[v as usize];
    let segment = |[a, b]: [u32; 2]| LinePicture {
        from: at(a),
        to: at(b),
        color: HAIR,
    };
    Ok(strands.segments().map(segment).collect())
}

/// The rest mesh, without strands.
pub(super) fn rest(asset: &Asset) -> Outcome<Look> {
    let mesh = asset.merged(&Default::default()).map_err(Failure::bind)?;
    let hair = match asset.strands.first() {
        Some(_) => {
            let hair = asset
                .merged_strands(&Default::default())
                .map_err(Failure::bind)?;
            strands(asset, &hair.positions)?
        }
        None => Vec::new(),
    };
    Ok(Look {
        positions: mesh.positions,
        normals: mesh.normals,
        colors: mesh.colors.into_iter().next(),
        lines: hair,
    })
}

pub(super) fn draw(look: &Look, triangles: &[[u32; 3]], camera: &Camera) -> Outcome<Image> {
    let mut picture = Picture::with_background(PANEL, PANEL, Background::STUDIO);
    let mut mesh = MeshPicture::new(&look.positions, triangles);
    mesh.normals = look.normals.as_deref();
    mesh.colors = look.colors.as_deref();
    picture.draw_mesh(&mesh, camera).map_err(Failure::output)?;
    picture.draw_lines(&look.lines, camera, 1.5, false);
    Ok(picture.resolve())
}

/// How far each vertex is from where it was before, as colours, and their scale. `None` if nothing moved.
pub(super) fn difference(
    before: &Look,
    after: &Look,
    triangles: &[[u32; 3]],
    camera: &Camera,
) -> Outcome<Option<(Image, Image)>> {
    let pairs = before.positions.iter().zip(&after.positions);
    let moved: Vec<f32> = pairs
        .map(|(a, b)| 1000.0 * vec3::distance(*a, *b))
        .collect();
    let max = moved.iter().copied().fold(0.0, f32::max);
    // Below a hundredth of a millimetre it is rounding.
    if max < 0.01 || before.positions.len() != after.positions.len() {
        return Ok(None);
    }
    let scale = Scale {
        min: 0.0,
        max,
        map: ColorMap::Viridis,
        title: "difference, mm".to_owned(),
    };
    let linear = |byte: u8| sinew_picture::linear_from_srgb(byte);
    let color = |value: &f32| {
        let [r, g, b] = scale.color(*value).map(linear);
        [r, g, b, 1.0]
    };
    let look = Look {
        positions: after.positions.clone(),
        normals: after.normals.clone(),
        colors: Some(moved.iter().map(color).collect()),
        lines: Vec::new(),
    };
    let style = ScaleBarStyle::on(PAPER).sized(14.0);
    let legend = draw_scale_bar(&scale, PANEL, &style);
    Ok(Some((draw(&look, triangles, camera)?, legend)))
}
