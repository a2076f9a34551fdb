//! What a baked skin comes to: `report.json` for machines, `report.html` for people. Nothing in them depends on when or on how many threads the bake
//! was made.

use super::SkinError;
use super::measure::{Distance, Measured};
use super::samples::SkinProblem;
use crate::BakeError;
use crate::report::{Page, data_uri, escaped, grouped};
use serde::{Deserialize, Serialize};
use sinew_geom::{Image, Real, Vec3};
use sinew_picture::{
    Background, Camera, ColorMap, Lens, MeshPicture, Picture, Scale, ScaleBarStyle, draw_scale_bar,
    linear_from_srgb, sheet,
};
use std::path::Path;

/// Pixels of a side.
const SIDE: usize = 360;
/// Vertices that are tried for the near view.
const MOST_LOOKS: usize = 200;
/// Clips that have pictures, at most.
const MOST_PICTURES: usize = 4;

/// What a clip came to. Distances in millimetres.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkinClipReport {
    /// Its name; `joint ranges` for those.
    pub name: String,
    /// Which clip of the character that is; none of joint ranges.
    pub clip: Option<usize>,
    /// Whether nothing of it was fitted.
    pub held_out: bool,
    /// How many samples it has.
    pub samples: usize,
    /// Root mean square over samples and vertices, as the file was written.
    pub rms_mm: f64,
    /// The largest distance, as the file was written.
    pub largest_mm: f64,
    /// When that is, seconds.
    pub worst_secs: f32,
    /// Which vertex that is, counted over all baked meshes.
    pub worst_vertex: usize,
    /// The same with the source's weights, linear skinning.
    pub source_rms_mm: f64,
    /// The largest distance with those.
    pub source_largest_mm: f64,
    /// Root mean square where the file's graph drives helpers and morph targets by the pose; none where it has no graph.
    pub driven_rms_mm: Option<f64>,
    /// The largest distance then.
    pub driven_largest_mm: Option<f64>,
}

/// What drives helpers and morph targets by the pose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkinDriver {
    /// The joints that it looks at.
    pub joints: Vec<String>,
    /// What it drives: helpers and morph targets.
    pub drives: Vec<String>,
    /// How many poses it knows, the rest pose among them.
    pub poses: usize,
    /// How far off what it drives is over the samples that it was made from, millimetres: root mean square over the vertices of these.
    pub rms_mm: f64,
}

/// What a bake of a skin came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkinReport {
    /// Name of the character.
    pub character: String,
    /// Name of the graph document.
    pub graph: String,
    /// File that was written.
    pub file: String,
    /// Where weights come from.
    pub method: String,
    /// Frames a second.
    pub fps: f64,
    /// Baked meshes by name.
    pub meshes: Vec<String>,
    /// Vertices of these.
    pub vertices: usize,
    /// Most joints of a vertex that were allowed.
    pub influences: usize,
    /// Most joints of a vertex that there are.
    pub influences_found: usize,
    /// Joints that were added, with the names of their parents.
    pub helpers: Vec<(String, String)>,
    /// Morph targets that were added.
    pub targets: usize,
    /// Vertices that any of them moves.
    pub target_vertices: usize,
    /// Bytes of the source as one GLB file.
    pub source_bytes: u64,
    /// Bytes that were written.
    pub written_bytes: u64,
    /// Hash of these, by [`Self::hash_of`]: whether a report and a file belong together.
    #[serde(default)]
    pub hash: String,
    /// What drives helpers and morph targets by the pose.
    pub drivers: Vec<SkinDriver>,
    /// Helpers and morph targets that no pose drives, where a graph was asked for: no joint that bears on them moves and has a name that no other
    /// has, or they are where they should be without.
    #[serde(default)]
    pub undriven: Vec<String>,
    /// Clips and joint ranges; behind them those that were held out.
    pub clips: Vec<SkinClipReport>,
    /// Root mean square, millimetres, after each step of the fit.
    pub steps: Vec<(String, f64)>,
}

impl SkinReport {
    /// The hash of the bytes of a file.
    pub fn hash_of(bytes: &[u8]) -> String {
        crate::work::hash_of(bytes)
    }
}

impl SkinClipReport {
    /// From what was measured.
    pub fn new(
        problem: &SkinProblem<'_>,
        group: usize,
        file: &Measured,
        source: &Measured,
    ) -> Self {
        let of = &problem.samples.groups()[group];
        let get = |m: &Measured| m.groups.get(group).copied().unwrap_or_default();
        let (now, before): (Distance, Distance) = (get(file), get(source));
        let time = now.sample.checked_sub(of.samples.start);
        let time = time.and_then(|k| of.times_secs.get(k)).copied();
        Self {
            name: of.name.clone(),
            clip: of.clip,
            held_out: false,
            samples: of.samples.len(),
            rms_mm: now.rms * 1e3,
            largest_mm: now.largest * 1e3,
            worst_secs: time.unwrap_or(0.0),
            worst_vertex: now.vertex,
            source_rms_mm: before.rms * 1e3,
            source_largest_mm: before.largest * 1e3,
            driven_rms_mm: None,
            driven_largest_mm: None,
        }
    }

    /// With what the file's own graph shows.
    #[must_use]
    pub fn driven(mut self, by_pose: Distance) -> Self {
        self.driven_rms_mm = Some(by_pose.rms * 1e3);
        self.driven_largest_mm = Some(by_pose.largest * 1e3);
        self
    }

    /// In one line.
    pub fn words(&self) -> String {
        let held_out = match self.held_out {
            true => " (held out)",
            false => "",
        };
        let driven = match (self.driven_rms_mm, self.driven_largest_mm) {
            (Some(rms), Some(most)) => {
                format!("; driven by pose: rms {rms:.3} mm, at most {most:.2} mm")
            }
            _ => String::new(),
        };
        format!(
            "{}{held_out}: rms {:.3} mm, at most {:.2} mm ({} samples){driven}; the source's linear skinning: rms {:.3} mm, at most {:.2} mm",
            self.name,
            self.rms_mm,
            self.largest_mm,
            self.samples,
            self.source_rms_mm,
            self.source_largest_mm
        )
    }
}

/// A moment to be drawn: the same vertices three times.
#[derive(Clone, Debug)]
pub struct SkinMoment {
    /// What stands above it.
    pub title: String,
    /// Linear skinning with the source's weights.
    pub source: Vec<[f32; 3]>,
    /// What the graph makes.
    pub graph: Vec<[f32; 3]>,
    /// What the file shows.
    pub file: Vec<[f32; 3]>,
}

/// Writes `report.json` and `report.html` into a folder, which is made where it is not there.
///
/// # Errors
/// [`SkinError::Io`] where files cannot be written, [`SkinError::Bake`] where a picture cannot be drawn.
pub fn write_report(
    folder: &Path,
    report: &SkinReport,
    triangles: &[[u32; 3]],
    moments: &[SkinMoment],
) -> Result<(), SkinError> {
    let page = page(report, triangles, moments)?;
    let json = serde_json::to_string_pretty(report).unwrap_or_default();
    sinew_io::write_text(&folder.join("report.json"), &json)?;
    sinew_io::write_text(&folder.join("report.html"), &page)?;
    Ok(())
}

fn page(
    report: &SkinReport,
    triangles: &[[u32; 3]],
    moments: &[SkinMoment],
) -> Result<String, SkinError> {
    let mut page = Page::new(
        &format!("Baked skin {}", report.character),
        &report.character,
    );
    let helpers = match report.helpers.len() {
        0 => "none".to_owned(),
        _ => {
            let all = report.helpers.iter();
            let all: Vec<String> = all.map(|(n, p)| format!("{n} below {p}")).collect();
            all.join(", ")
        }
    };
    page.pairs(&[
        ("Graph", report.graph.clone()),
        ("File", report.file.clone()),
        ("Meshes", report.meshes.join(", ")),
        ("Vertices", grouped(report.vertices as u64)),
        ("Weights", report.method.clone()),
        (
            "Joints of a vertex",
            format!(
                "{} at most, {} allowed",
                report.influences_found, report.influences
            ),
        ),
        ("Helper joints", helpers),
        (
            "Morph targets",
            format!(
                "{}, over {} vertices",
                report.targets,
                grouped(report.target_vertices as u64)
            ),
        ),
        (
            "Bytes",
            format!(
                "{}; the source as GLB: {}",
                grouped(report.written_bytes),
                grouped(report.source_bytes)
            ),
        ),
    ]);
    page.section("Distance from the graph's frames, millimetres");
    page.paragraph("Measured on the file as it was written: read back, its clips played at the times of the frames, linear skinning.");
    let or_none = |n: Option<f64>, digits| n.map_or(String::new(), |n| format!("{n:.digits$}"));
    let rows = report.clips.iter().map(|c| {
        vec![
            format!("{}{}", c.name, if c.held_out { " (held out)" } else { "" }),
            c.samples.to_string(),
            format!("{:.3}", c.rms_mm),
            format!("{:.2}", c.largest_mm),
            or_none(c.driven_rms_mm, 3),
            or_none(c.driven_largest_mm, 2),
            format!("{:.3}", c.source_rms_mm),
            format!("{:.2}", c.source_largest_mm),
            format!("{:.3}", c.worst_secs),
            c.worst_vertex.to_string(),
        ]
    });
    let heads = [
        "Clip",
        "Samples",
        "RMS",
        "Largest",
        "RMS, driven by pose",
        "Largest, driven by pose",
        "Source's RMS",
        "Source's largest",
        "Worst at, s",
        "Worst vertex",
    ];
    page.table(&heads, &rows.collect::<Vec<_>>());
    drivers(&mut page, report);
    page.section("Steps of the fit");
    let rows = report.steps.iter();
    let rows: Vec<Vec<String>> = rows
        .map(|(what, rms)| vec![what.clone(), format!("{rms:.4}")])
        .collect();
    page.table(&["Step", "RMS, mm"], &rows);
    for moment in moments.iter().take(MOST_PICTURES) {
        page.section(&moment.title);
        let image = pictures(triangles, moment).map_err(BakeError::from)?;
        let png = sinew_io::png_bytes(&image)?;
        let alt = escaped(&moment.title);
        page.html(&format!(
            "<figure><img alt=\"{alt}\" src=\"{}\"></figure>",
            data_uri(&png)
        ));
    }
    Ok(page.finish())
}

fn drivers(page: &mut Page, report: &SkinReport) {
    if report.drivers.is_empty() && report.undriven.is_empty() {
        return;
    }
    page.section("What follows the pose");
    if !report.undriven.is_empty() {
        let all = report.undriven.join(", ");
        page.paragraph(&format!("Driven by no pose: {all}."));
    }
    let row = |d: &SkinDriver| {
        let poses = d.poses.to_string();
        let rms = format!("{:.4}", d.rms_mm);
        vec![d.joints.join(", "), d.drives.join(", "), poses, rms]
    };
    let rows: Vec<Vec<String>> = report.drivers.iter().map(row).collect();
    page.table(&["Joints", "Drives", "Poses", "RMS, mm"], &rows);
}

/// The source's skinning, the graph and the file, whole and near the place where the file is farthest off; below them the distances as colours.
fn pictures(
    triangles: &[[u32; 3]],
    moment: &SkinMoment,
) -> Result<Image, sinew_picture::PictureError> {
    let off = |shown: &[[f32; 3]]| -> Vec<f32> {
        let pairs = shown.iter().zip(&moment.graph);
        let length = |(a, b): (&[f32; 3], &[f32; 3])| (f32::vec3(*a) - f32::vec3(*b)).norm() * 1e3;
        pairs.map(length).collect()
    };
    let (before, after) = (off(&moment.source), off(&moment.file));
    let scale = Scale {
        min: 0.0,
        max: before.iter().copied().fold(1e-3, f32::max),
        map: ColorMap::Turbo,
        title: "distance from the graph, mm".into(),
    };
    let whole = Camera::framing(&moment.graph, 0.35, 0.1, 1.0);
    let near = near(triangles, &moment.graph, &before).unwrap_or(whole);
    let mut images = Vec::new();
    for camera in [&whole, &near] {
        for (label, places, colors) in [
            ("source's linear skinning", &moment.source, None),
            ("graph", &moment.graph, None),
            ("baked", &moment.file, None),
            ("source's distance", &moment.graph, Some(&before)),
            ("baked distance", &moment.graph, Some(&after)),
        ] {
            let colors = colors.map(|c| colored(c, &scale));
            images.push((label, drawn(triangles, places, colors.as_deref(), camera)?));
        }
    }
    let bar = draw_scale_bar(&scale, SIDE, &ScaleBarStyle::on([250, 250, 250, 255]));
    let panels: Vec<sinew_picture::Panel<'_>> = images
        .iter()
        .map(|(label, image)| sinew_picture::Panel::new(*label, image))
        .collect();
    Ok(sheet(&panels, Some(5), Some(&bar), [250, 250, 250, 255]))
}

/// A colour for each distance, linear: blue at zero, red at `most`.
pub fn colors_of(distances: &[f64], most: f64) -> Vec<[f32; 4]> {
    let scale = Scale {
        min: 0.0,
        max: (most as f32).max(f32::MIN_POSITIVE),
        map: ColorMap::Turbo,
        title: String::new(),
    };
    let numbers: Vec<f32> = distances.iter().map(|d| *d as f32).collect();
    colored(&numbers, &scale)
}

/// A colour for each number, linear.
fn colored(numbers: &[f32], scale: &Scale) -> Vec<[f32; 4]> {
    let color = |n: &f32| {
        let [r, g, b] = scale.color(*n).map(linear_from_srgb);
        [r, g, b, 1.0]
    };
    numbers.iter().map(color).collect()
}

/// Looks at the place with the largest distance that can be seen from outside, from a third of the size away; `None` where none can.
fn near(triangles: &[[u32; 3]], places: &[[f32; 3]], distances: &[f32]) -> Option<Camera> {
    let (low, high) = sinew_geom::bounds(places)?;
    let size = (f32::vec3(high) - f32::vec3(low)).norm();
    let normals = sinew_geom::smooth_normals(places, triangles);
    let mut worst: Vec<usize> = (0..distances.len()).collect();
    worst.sort_by(|a, b| distances[*b].total_cmp(&distances[*a]).then(a.cmp(b)));
    let eye = |vertex: usize| {
        // A little from above and from the side, so that folds show.
        let normal = f32::vec3(*normals.get(vertex)?) + Vec3::new(0.25, 0.3, 0.0);
        let direction = normal.try_normalize(1e-6)?;
        Some(f32::vec3(places[vertex]) + direction * size * 0.35)
    };
    let all = worst.into_iter().take(MOST_LOOKS);
    let mut seen = all.filter_map(|v| Some((eye(v)?, v)));
    let (eye, vertex) = seen.find(|(eye, v)| is_seen(*eye, *v, triangles, places))?;
    let lens = Lens::Perspective {
        tan_half_height: 0.3,
    };
    Camera::look_at(f32::array3(eye), places[vertex], lens, 1.0)
}

/// Whether no triangle is between an eye and a vertex.
fn is_seen(eye: Vec3<f32>, vertex: usize, triangles: &[[u32; 3]], places: &[[f32; 3]]) -> bool {
    let way = f32::vec3(places[vertex]) - eye;
    let is_between = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| f32::vec3(places[v as usize]));
        // Moeller and Trumbore 1997.
        let (ab, ac) = (b - a, c - a);
        let p = way.cross(&ac);
        let det = ab.dot(&p);
        let from = eye - a;
        let u = from.dot(&p) / det;
        let q = from.cross(&ab);
        let (v, at) = (way.dot(&q) / det, ac.dot(&q) / det);
        det != 0.0 && u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..0.98).contains(&at)
    };
    !triangles.iter().any(is_between)
}

fn drawn(
    triangles: &[[u32; 3]],
    places: &[[f32; 3]],
    colors: Option<&[[f32; 4]]>,
    camera: &Camera,
) -> Result<Image, sinew_picture::PictureError> {
    let mut picture = Picture::with_background(SIDE, SIDE, Background::STUDIO);
    let mut mesh = MeshPicture::new(places, triangles);
    mesh.colors = colors;
    picture.draw_mesh(&mesh, camera)?;
    Ok(picture.resolve())
}
