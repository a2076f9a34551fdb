//! Grows strands on a mesh: roots spread evenly over its surface, curves follow the combing.

mod clear;
mod clumps;
mod detail;
mod random;
mod roots;
mod shape;
#[cfg(test)]
mod tests;

use crate::vec3::distance;
use crate::{Attribute, Influences, Mesh, Strands, StrandsError, THICKNESS, Topology, Vec3};
pub use detail::{Curl, Frizz};
use roots::{AT_ONCE, Root, scatter};

/// Number of strands to grow.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum GrowAmount {
    /// This number of strands.
    Strands(usize),
    /// This number of strands per square metre at density 1.
    PerSquareMetre(f32),
}

/// Settings of growth. Lengths are in scene units (metres), angles in radians.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct GrowSettings {
    /// Number of strands. Default 1000 strands.
    pub amount: GrowAmount,
    /// Vertices of each strand, 2 to 4096. Default 16.
    pub vertices: usize,
    /// Length along the strand. Default 0.2.
    pub length: f32,
    /// Strands are randomly shorter by up to this share of the length; 0 to 1. Default 0.2.
    pub length_variation: f32,
    /// Strands are shorter and thinner where the density is below 1: by up to this share, where it is nearly 0; 0 to 1. Default 0.
    pub fade: f32,
    /// Strands randomly lean away from the normal by up to this angle. Default 0.1.
    pub lean: f32,
    /// How far strands bend towards the combing direction: 0 is not at all, 1 is completely. Default 1.
    pub comb: f32,
    /// Share of their length over which strands bend from the normal to the combing direction; above 0, at most 1. Default 0.4.
    pub bend: f32,
    /// How far tips hang down (along -y): 0 is not at all, 1 is as much as they stand out. Default 0.
    pub droop: f32,
    /// Radius of curls; 0 for no curls. Below `curl_length / 2 pi`, at which a strand would only go round. Default 0.
    pub curl_radius: f32,
    /// Length of hair in one full rotation of a curl. Default 0.05.
    pub curl_length: f32,
    /// How far strands gather around their guide curve: 0 keeps the distance of the roots, 1 brings the tips together. Default 0.
    pub gather: f32,
    /// How far strands of a clump come together at their tips: 0 is not at all, 1 is at one point. Default 0.
    pub clump: f32,
    /// Width of a clump on the surface. Default 0.012.
    pub clump_size: f32,
    /// Distance by which strands randomly leave their line, at most. It grows from 0 at the root over the first `frizz_length`. Default 0.
    pub frizz: f32,
    /// Length of hair between two random bends. Default 0.015.
    pub frizz_length: f32,
    /// Diameters at root and tip: the attribute [`THICKNESS`] of the result. Default `None`: no attribute.
    pub thickness: Option<[f32; 2]>,
    /// Colours at root and tip, linear RGB: the vertex colours of the result. Default `None`: no colours.
    pub colors: Option<[[f32; 3]; 2]>,
    /// Seed of random roots, leans, curls, clumps and frizz. Default 0.
    pub seed: u32,
}

impl Default for GrowSettings {
    fn default() -> Self {
        Self {
            amount: GrowAmount::Strands(1000),
            vertices: 16,
            length: 0.2,
            length_variation: 0.2,
            fade: 0.0,
            lean: 0.1,
            comb: 1.0,
            bend: 0.4,
            droop: 0.0,
            curl_radius: 0.0,
            curl_length: 0.05,
            gather: 0.0,
            clump: 0.0,
            clump_size: 0.012,
            frizz: 0.0,
            frizz_length: 0.015,
            thickness: None,
            colors: None,
            seed: 0,
        }
    }
}

/// Settings that vary over the mesh: one entry per vertex, interpolated linearly across triangles.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct GrowMaps<'a> {
    /// Density of strands, clamped to 0 to 1. `None` means 1.
    pub density: Option<&'a [f32]>,
    /// Factor of the length. `None` means 1. Strands with a resulting length of 0 or less do not grow.
    pub length: Option<&'a [f32]>,
    /// Combing direction in scene axes. The part along the normal lifts the strands. A length of 1 or more bends them completely, a smaller
    /// length bends them less. `None` means that strands stand along the normal.
    pub comb: Option<&'a [[f32; 3]]>,
    /// Guide curves, in scene space: polylines of two or more points. If there are some, each strand bends to the curve whose
    /// first point is nearest to its root, instead of to `comb`.
    pub guides: &'a [Vec<[f32; 3]>],
    /// What strands stay out of. `None` means nothing.
    pub body: Option<GrowBody<'a>>,
}

/// A body that strands stay out of.
#[derive(Clone, Copy)]
pub struct GrowBody<'a> {
    surface: &'a (dyn Fn([f32; 3]) -> (f32, [f32; 3]) + Sync),
    clearance: f32,
}

impl<'a> GrowBody<'a> {
    /// `surface` gives the signed distance of a point, metres, negative inside, and its gradient of any length; both in scene space. Strands
    /// keep the distance `clearance`; near the root at most a quarter of the way from the root along the strand.
    pub fn new(surface: &'a (dyn Fn([f32; 3]) -> (f32, [f32; 3]) + Sync), clearance: f32) -> Self {
        Self { surface, clearance }
    }

    /// Distance and unit normal, where there is one.
    fn measure(&self, at: Vec3<f64>) -> (f64, Option<Vec3<f64>>) {
        let (distance, gradient) = (self.surface)([at.x, at.y, at.z].map(|c| c as f32));
        let normal = Vec3::from(gradient.map(f64::from)).try_normalize(1e-6);
        (f64::from(distance), normal)
    }
}

impl std::fmt::Debug for GrowBody<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GrowBody")
            .field("clearance", &self.clearance)
            .finish_non_exhaustive()
    }
}

/// Why no strands were grown.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum GrowError {
    /// There is no surface to grow on.
    #[error("the mesh has no triangle with an area{}", if *.masked { " where the density is above zero" } else { "" })]
    NoSurface {
        /// Whether there was a density map.
        masked: bool,
    },
    /// A map does not have one entry for each vertex.
    #[error("`{map}` has {found} entries, but the mesh has {expected} vertices")]
    MapLength {
        /// Name of the map.
        map: &'static str,
        /// Number of entries.
        found: usize,
        /// Vertices of the mesh.
        expected: usize,
    },
    /// A map has an entry that is NaN or infinite.
    #[error("`{map}` of vertex {vertex} is not a finite number")]
    NotFinite {
        /// Name of the map.
        map: &'static str,
        /// The first such vertex.
        vertex: usize,
    },
    /// A guide curve has no length, or a point that is NaN or infinite.
    #[error("guide curve {guide} has no finite length above 0; expected two or more finite points")]
    Guide {
        /// Index of the curve.
        guide: usize,
    },
    /// A setting is out of its range.
    #[error("{setting} is {found}, expected {expected}")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// Its value.
        found: String,
        /// Its allowed range.
        expected: &'static str,
    },
    /// There would be too many vertices.
    #[error(transparent)]
    Strands(#[from] StrandsError),
    /// The caller stopped the growth.
    #[error("growing was stopped")]
    Stopped,
}

/// Share of the time that finding roots takes, roughly.
const SCATTERING: f64 = 0.6;
/// The same when strands are laid around the body.
const LAYING: f64 = 0.8;

/// Most vertices of a strand.
const MOST_VERTICES: usize = 4096;
/// Most strands: five candidates for the root of each are in memory at once.
const MOST_STRANDS: usize = 1 << 22;
/// Most vertices of all strands: what a few gigabytes hold with all that belongs to them.
const MOST_IN_ALL: usize = 1 << 26;
const IN_ALL: &str = "at most 67108864 vertices in all";

/// Grows strands on the triangles of `mesh`. `normals` has one unit normal per vertex.
///
/// All vertices of a strand get the texture coordinates and joint weights of the surface at its root. The attribute `inverse_mass` is 0 at
/// the first two vertices of each strand, which are fixed to the skin, and 1 at the others.
///
/// Roots are spread evenly: from five times as many random points, the most crowded point is removed repeatedly (Yuksel 2015, *Sample
/// Elimination for Generating Poisson Disk Sample Sets*). The same settings give the same strands on every machine with IEEE 754
/// rounding, up to the last bits of sine and cosine. Cost: about 3 microseconds per strand.
///
/// The result is in scene space at bind, as `mesh`. It has the name `hair`. All strands are guides. It has no normals and no
/// morph targets.
///
/// # Errors
/// [`GrowError`] if there is no surface to grow on, a map does not fit, or a setting is out of range.
///
/// # Cost
/// O(n log n) for the roots of `n` strands and O(vertices) for their curves, on one thread. Beside the result, it needs about 0.7 kB of
/// memory per strand.
pub fn grow(
    mesh: &Mesh,
    normals: &[[f32; 3]],
    maps: &GrowMaps<'_>,
    settings: &GrowSettings,
) -> Result<Mesh, GrowError> {
    grow_watched(mesh, normals, maps, settings, &|_| true)
}

/// As [`grow`], with progress: `goes_on` receives the finished share of the work, from 0 to 1, at least every few thousand strands. It
/// returns whether to continue.
///
/// # Errors
/// As [`grow`]; [`GrowError::Stopped`].
pub fn grow_watched(
    mesh: &Mesh,
    normals: &[[f32; 3]],
    maps: &GrowMaps<'_>,
    settings: &GrowSettings,
    goes_on: &dyn Fn(f64) -> bool,
) -> Result<Mesh, GrowError> {
    check_settings(settings)?;
    check_maps(mesh, normals, maps)?;
    let step = |done: f64| {
        if goes_on(done) {
            Ok(())
        } else {
            Err(GrowError::Stopped)
        }
    };
    let scattering = |done: f64| step(SCATTERING * done);
    let mut roots = scatter(mesh, maps.density, settings, &scattering)?;
    roots.retain(|r| maps.length.is_none_or(|l| r.mean(l) > 0.0));
    if roots.is_empty() {
        return Err(GrowError::NoSurface { masked: true });
    }
    let each = settings.vertices;
    let strands = Strands::new(std::iter::repeat_n(each, roots.len()))?;
    let mut positions = Vec::with_capacity(roots.len() * each);
    let centres = centres(mesh, &roots, settings);
    for first in (0..roots.len()).step_by(AT_ONCE) {
        let done = first as f64 / roots.len() as f64;
        step(SCATTERING + (LAYING - SCATTERING) * done)?;
        for i in first..roots.len().min(first + AT_ONCE) {
            let centre = centres.as_ref().map(|c| roots[c[i]].number);
            let root = &roots[i];
            positions.extend(shape::strand(mesh, normals, maps, settings, root, centre));
        }
    }
    if let Some(centres) = &centres {
        gather(&mut positions, each, centres, settings.clump);
    }
    if let Some(body) = &maps.body {
        for (i, strand) in positions.chunks_mut(each).enumerate() {
            if i % AT_ONCE == 0 {
                step(LAYING + (1.0 - LAYING) * i as f64 / roots.len() as f64)?;
            }
            clear::lay(strand, body);
        }
    }
    let mut out = Mesh::new("hair", Topology::from_strands(strands), positions);
    let masses = (0..roots.len() * each).map(|v| if v % each < 2 { 0.0 } else { 1.0 });
    let masses = Attribute::Scalar(masses.collect());
    out.attributes.insert("inverse_mass".into(), masses);
    dress(&mut out, settings, &|strand| {
        shape::faded(maps, settings, &roots[strand])
    });
    let for_all = |of_root: &dyn Fn(&Root) -> [f32; 2]| {
        let each_root = roots.iter().map(of_root);
        each_root
            .flat_map(|v| std::iter::repeat_n(v, each))
            .collect()
    };
    out.uvs = (mesh.uvs.iter().take(1))
        .map(|uv| for_all(&|r| r.mean2(uv)))
        .collect();
    out.influences = mesh
        .influences
        .as_ref()
        .map(|i| influences(i, &roots, each));
    Ok(out)
}

/// The strand in the centre of each strand's clump, if there are clumps.
fn centres(mesh: &Mesh, roots: &[Root], settings: &GrowSettings) -> Option<Vec<usize>> {
    let place = |r: &Root| Vec3::from(r.mean3(&mesh.positions).map(f64::from));
    (settings.clump > 0.0).then(|| {
        let places: Vec<Vec3<f64>> = roots.iter().map(place).collect();
        clumps::centres(&places, f64::from(settings.clump_size), settings.seed)
    })
}

/// Brings all strands, of `each` vertices, to the centres of their clumps. Centres themselves stay.
fn gather(positions: &mut [[f32; 3]], each: usize, centres: &[usize], share: f32) {
    for (strand, &centre) in centres.iter().enumerate().filter(|(s, c)| s != *c) {
        let centre = positions[centre * each..][..each].to_vec();
        clumps::gather(
            &mut positions[strand * each..][..each],
            &centre,
            f64::from(share),
        );
    }
}

/// Sets thickness and colours, by the share of the way from root to tip. `left`: what is left of the thickness of each strand.
fn dress(hair: &mut Mesh, settings: &GrowSettings, left: &dyn Fn(usize) -> f32) {
    let each = settings.vertices;
    let share = |v: usize| (v % each) as f32 / (each - 1) as f32;
    let all = || (0..hair.positions.len()).map(share);
    if let Some([root, tip]) = settings.thickness {
        let at = |t: f32| tip + (root - tip) * (1.0 - t * t).max(0.0).sqrt();
        let thickness = all().enumerate().map(|(v, t)| left(v / each) * at(t));
        let thickness = Attribute::Scalar(thickness.collect());
        hair.attributes.insert(THICKNESS.into(), thickness);
    }
    if let Some([root, tip]) = settings.colors {
        let mix = |c: usize, t: f32| root[c] + (tip[c] - root[c]) * t;
        let at = |t: f32| [mix(0, t), mix(1, t), mix(2, t), 1.0];
        hair.colors = vec![all().map(at).collect()];
    }
}

/// Weights of roots, for each vertex of their strands.
fn influences(of_mesh: &Influences, roots: &[Root], each: usize) -> Influences {
    let rows: Vec<Vec<(u32, f32)>> = roots
        .iter()
        .map(|root| {
            let corners = root.corners.into_iter().zip(root.shares);
            corners
                .flat_map(|(v, share)| of_mesh.row(v as usize).map(move |(j, w)| (j, w * share)))
                .collect()
        })
        .collect();
    let joints = of_mesh.joints().iter().max().map_or(1, |j| *j as usize + 1);
    let found = Influences::from_rows(rows.iter().map(Vec::as_slice), joints, 0);
    let (of_roots, ..) = found.unwrap_or_default();
    of_roots.gathered((0..roots.len() * each).map(|v| v / each))
}

fn check_settings(s: &GrowSettings) -> Result<(), GrowError> {
    let wrong = |setting, found: String, expected| {
        Err(GrowError::Setting {
            setting,
            found,
            expected,
        })
    };
    match s.amount {
        GrowAmount::Strands(n) if n == 0 || n > MOST_STRANDS => {
            return wrong("the number of strands", n.to_string(), "1 to 4194304");
        }
        GrowAmount::PerSquareMetre(d) if !(d > 0.0 && d.is_finite()) => {
            return wrong("the density", d.to_string(), "a number above 0");
        }
        _ => {}
    }
    if !(2..=MOST_VERTICES).contains(&s.vertices) {
        let found = s.vertices.to_string();
        return wrong("the number of vertices of a strand", found, "2 to 4096");
    }
    if let GrowAmount::Strands(n) = s.amount
        && n * s.vertices > MOST_IN_ALL
    {
        let found = format!("{n}, of {} vertices each", s.vertices);
        return wrong("the number of strands", found, IN_ALL);
    }
    let numbers: [(&'static str, f32, f32, &'static str); 11] = [
        ("the bend", s.bend, 1.0, "above 0, at most 1"),
        ("the clumping", s.clump, 1.0, "0 to 1"),
        ("the frizz", s.frizz, f32::MAX, "0 or more"),
        ("the gathering", s.gather, 1.0, "0 to 1"),
        ("the length variation", s.length_variation, 1.0, "0 to 1"),
        ("the fading", s.fade, 1.0, "0 to 1"),
        (
            "the lean",
            s.lean,
            std::f32::consts::FRAC_PI_2,
            "0 to pi/2 (90 degrees)",
        ),
        ("the combing", s.comb, 1.0, "0 to 1"),
        ("the droop", s.droop, 1e3, "0 to 1000"),
        ("the radius of curls", s.curl_radius, f32::MAX, "0 or more"),
        ("the length", s.length, f32::MAX, "a number above 0"),
    ];
    for (setting, found, most, expected) in numbers {
        if !(0.0..=most).contains(&found) {
            return wrong(setting, found.to_string(), expected);
        }
    }
    for (setting, found) in [
        ("the length", s.length),
        ("the length of a curl", s.curl_length),
        ("the size of a clump", s.clump_size),
        ("the length of frizz", s.frizz_length),
        ("the bend", s.bend),
    ] {
        if !(found > 0.0 && found.is_finite()) {
            return wrong(setting, found.to_string(), "a number above 0");
        }
    }
    let widest = s.curl_length * Curl::WIDEST as f32;
    if s.curl_radius > widest {
        let found = format!("{} for a curl length of {}", s.curl_radius, s.curl_length);
        let expected = "less than 0.15 times the length of a curl";
        return wrong("the radius of curls", found, expected);
    }
    check_look(s)
}

/// Thickness and colours.
fn check_look(s: &GrowSettings) -> Result<(), GrowError> {
    let check = |setting, numbers: &[f32], expected| {
        let bad = numbers.iter().find(|n| !(**n >= 0.0 && n.is_finite()));
        bad.map_or(Ok(()), |n| {
            Err(GrowError::Setting {
                setting,
                found: n.to_string(),
                expected,
            })
        })
    };
    check(
        "the thickness",
        &s.thickness.unwrap_or_default(),
        "0 or more",
    )?;
    let colors = s.colors.unwrap_or_default();
    check("the colour", colors.as_flattened(), "0 or more")
}

fn check_maps(mesh: &Mesh, normals: &[[f32; 3]], maps: &GrowMaps<'_>) -> Result<(), GrowError> {
    check_map("normals", mesh, normals.len(), normals.as_flattened(), 3)?;
    if let Some(density) = maps.density {
        check_map("density", mesh, density.len(), density, 1)?;
    }
    if let Some(length) = maps.length {
        check_map("length", mesh, length.len(), length, 1)?;
    }
    if let Some(comb) = maps.comb {
        check_map("comb", mesh, comb.len(), comb.as_flattened(), 3)?;
    }
    for (at, guide) in maps.guides.iter().enumerate() {
        let points = guide.as_flattened();
        let length: f32 = guide.windows(2).map(|w| distance(w[0], w[1])).sum();
        if !(length > 0.0 && points.iter().all(|n| n.is_finite()) && length.is_finite()) {
            return Err(GrowError::Guide { guide: at });
        }
    }
    let positions = mesh.positions.as_flattened();
    check_map("positions", mesh, mesh.positions.len(), positions, 3)
}

fn check_map(
    map: &'static str,
    mesh: &Mesh,
    found: usize,
    numbers: &[f32],
    each: usize,
) -> Result<(), GrowError> {
    let expected = mesh.positions.len();
    if found != expected {
        return Err(GrowError::MapLength {
            map,
            found,
            expected,
        });
    }
    match numbers.iter().position(|n| !n.is_finite()) {
        Some(at) => Err(GrowError::NotFinite {
            map,
            vertex: at / each,
        }),
        None => Ok(()),
    }
}
