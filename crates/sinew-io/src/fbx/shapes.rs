//! Blend shapes as morph targets. Each in-between is a target of its own.

use super::document::{Document, quoted};
use super::geometry::Vertices;
use super::nodes::vec3;
use crate::IoError;
use serde_json::{Value, json};
use sinew_geom::{Affine, Mat3};
use ufbx::{BlendChannel, BlendShape, Mesh};

/// Morph targets of a mesh.
#[derive(Default)]
pub(super) struct Targets {
    /// Entries of each primitive.
    pub(super) entries: Vec<Value>,
    pub(super) names: Vec<String>,
    pub(super) channels: Vec<Channel>,
}

/// A weight of the FBX file that drives one or several targets.
pub(super) struct Channel {
    /// Its element.
    pub(super) element: u32,
    /// Its first target. Those of the other shapes follow.
    pub(super) first: usize,
    /// Weights at which each shape has its full strength, increasing; 1 is 100 %.
    pub(super) stops: Vec<f64>,
    /// The weight in the file.
    weight: f64,
}

impl Targets {
    /// Weights of all targets without an animation.
    pub(super) fn defaults(&self) -> Vec<f32> {
        let mut out = vec![0.0; self.names.len()];
        for channel in &self.channels {
            channel.weigh(channel.weight, &mut out);
        }
        out
    }
}

impl Channel {
    /// Writes the weights of its targets: linear from shape to shape, with no shape at 0.
    pub(super) fn weigh(&self, weight: f64, out: &mut [f32]) {
        let out = &mut out[self.first..self.first + self.stops.len()];
        out.fill(0.0);
        // The shapes on the side of the weight, from 0 outwards.
        let is_side = |k: &usize| (self.stops[*k] < 0.0) == (weight < 0.0);
        let mut side: Vec<usize> = (0..self.stops.len()).filter(is_side).collect();
        if side.is_empty() {
            side = (0..self.stops.len()).collect();
        }
        side.sort_by(|a, b| self.stops[*a].abs().total_cmp(&self.stops[*b].abs()));
        let inside = side
            .iter()
            .take_while(|k| self.stops[**k].abs() <= weight.abs())
            .count();
        let next = inside.min(side.len() - 1);
        let before = next.checked_sub(1).map(|k| side[k]);
        let from = before.map_or(0.0, |k| self.stops[k]);
        let way = self.stops[side[next]] - from;
        if way == 0.0 {
            return;
        }
        let share = (weight - from) / way;
        out[side[next]] = share as f32;
        if let Some(before) = before {
            out[before] = (1.0 - share) as f32;
        }
    }

    /// Weights between which [`Self::weigh`] is linear.
    pub(super) fn bends(&self) -> Vec<f64> {
        let mut out = self.stops.clone();
        out.push(0.0);
        out
    }
}

/// Writes the targets of a mesh.
///
/// # Errors
/// [`IoError::Malformed`] at the limit for unpacked data, and for offsets that are not finite.
pub(super) fn write(
    doc: &mut Document<'_>,
    place: &str,
    mesh: &Mesh,
    vertices: &Vertices,
    into_node: &Affine<f64>,
) -> Result<Targets, IoError> {
    let mut out = Targets::default();
    let channels = mesh.blend_deformers.iter().flat_map(|d| d.channels.iter());
    let copies = Copies::of(mesh.num_vertices, vertices);
    for channel in channels {
        if channel.keyframes.is_empty() {
            let name = quoted("blend shape", &channel.element.name);
            doc.warn(
                "blend_shape_empty",
                format!("{name} of {place} has no shape; it was skipped"),
            );
            continue;
        }
        out.channels.push(Channel {
            element: channel.element.element_id,
            first: out.names.len(),
            stops: channel.keyframes.iter().map(|k| k.target_weight).collect(),
            weight: channel.weight,
        });
        for (key, name) in channel.keyframes.iter().zip(names(channel)) {
            // The reader unpacks each target to all vertices.
            doc.spend(place, vertices.len(), 12)?;
            let entry = target(doc, place, &key.shape, &copies, into_node)?;
            out.entries.push(entry);
            out.names.push(name);
        }
    }
    Ok(out)
}

/// The name of the shape at full weight; in-betweens have their weight in percent behind it.
fn names(channel: &BlendChannel) -> Vec<String> {
    let of_shape = channel
        .target_shape
        .as_ref()
        .map(|s| s.element.name.as_ref());
    let name = of_shape
        .filter(|n| !n.is_empty())
        .unwrap_or(&channel.element.name);
    let last = channel.keyframes.len() - 1;
    let of_key = |(k, key): (usize, &ufbx::BlendKeyframe)| match k {
        k if k == last => name.to_owned(),
        _ => format!("{name}_{}", (key.target_weight * 1e4).round() / 100.0),
    };
    channel.keyframes.iter().enumerate().map(of_key).collect()
}

/// The vertices of each point.
struct Copies {
    offsets: Vec<usize>,
    vertices: Vec<u32>,
}

impl Copies {
    fn of(points: usize, vertices: &Vertices) -> Self {
        let mut offsets = vec![0; points + 1];
        for &point in &vertices.points {
            offsets[point as usize + 1] += 1;
        }
        for k in 0..points {
            offsets[k + 1] += offsets[k];
        }
        let mut next = offsets.clone();
        let mut out = vec![0; vertices.len()];
        for (vertex, &point) in (0_u32..).zip(&vertices.points) {
            out[next[point as usize]] = vertex;
            next[point as usize] += 1;
        }
        Self {
            offsets,
            vertices: out,
        }
    }

    /// Empty for a point that the mesh does not have.
    fn of_point(&self, point: u32) -> &[u32] {
        let ends = self
            .offsets
            .get(point as usize)
            .zip(self.offsets.get(point as usize + 1));
        ends.map_or(&[], |(start, end)| &self.vertices[*start..*end])
    }
}

fn target(
    doc: &mut Document<'_>,
    place: &str,
    shape: &BlendShape,
    copies: &Copies,
    into_node: &Affine<f64>,
) -> Result<Value, IoError> {
    let count = copies.vertices.len();
    let mut beyond = 0_usize;
    let mut write = |list: &[ufbx::Vec3], matrix: &Mat3<f64>| {
        let mut moved: Vec<(u32, [f32; 3])> = Vec::new();
        for (k, (&point, offset)) in shape.offset_vertices.iter().zip(list).enumerate() {
            // A vertex group of Blender.
            let share = shape.offset_weights.get(k).copied().unwrap_or(1.0);
            let delta = matrix * vec3(offset) * share;
            let delta = [delta.x as f32, delta.y as f32, delta.z as f32];
            let vertices = copies.of_point(point);
            beyond += usize::from(vertices.is_empty());
            if delta != [0.0; 3] {
                moved.extend(vertices.iter().map(|v| (*v, delta)));
            }
        }
        moved.sort_by_key(|m| m.0);
        // Of several offsets for one point, the first counts.
        moved.dedup_by_key(|m| m.0);
        moved
    };
    let positions = write(&shape.position_offsets, &into_node.linear);
    let normals = write(&shape.normal_offsets, &into_node.normal_matrix());
    if beyond > 0 {
        let name = quoted("blend shape", &shape.element.name);
        let message = format!(
            "{name} of {place} moves {beyond} vertices that the mesh does not have; they are ignored"
        );
        doc.warn("blend_shape_out_of_range", message);
    }
    if let Some((vertex, _)) = positions
        .iter()
        .chain(&normals)
        .find(|m| !m.1.iter().all(|c| c.is_finite()))
    {
        let name = quoted("blend shape", &shape.element.name);
        let found = format!("an offset that is not finite at vertex {vertex}");
        return Err(doc.malformed(format!("{place}, {name}"), found, "finite numbers"));
    }
    let mut accessor = |moved: Vec<(u32, [f32; 3])>| {
        let (rows, deltas): (Vec<u32>, Vec<[f32; 3]>) = moved.into_iter().unzip();
        doc.out.deltas(count, &rows, &deltas)
    };
    let has_normals = !normals.is_empty();
    let mut entry = json!({ "POSITION": accessor(positions) });
    if has_normals {
        entry["NORMAL"] = accessor(normals).into();
    }
    Ok(entry)
}
