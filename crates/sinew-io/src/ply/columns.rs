//! Maps properties of vertices to mesh attributes.

use super::header::Scalar;
use crate::IoError;
use crate::fault::malformed;
use crate::surface::{linear_from_srgb, repair_normals, repair_numbers};
use sinew_geom::{Attribute, Mesh, Warning};
use std::collections::BTreeMap;
use std::path::Path;

/// A scalar property of all vertices.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Scalar,
    pub(super) values: Vec<f32>,
}

/// The scalar properties of all vertices.
pub(super) struct Columns(pub(super) Vec<Column>);

impl Columns {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|c| c.name == name)
    }

    /// Removes and returns the named columns if all exist.
    fn take<const N: usize>(&mut self, names: [&str; N]) -> Option<[Column; N]> {
        if !names.iter().all(|n| self.has(n)) {
            return None;
        }
        let taken: Vec<Column> = names
            .iter()
            .filter_map(|n| {
                self.0
                    .iter()
                    .position(|c| c.name == *n)
                    .map(|i| self.0.remove(i))
            })
            .collect();
        taken.try_into().ok()
    }
}

fn rows<const N: usize>(columns: [&Column; N]) -> Vec<[f32; N]> {
    (0..columns[0].values.len())
        .map(|v| std::array::from_fn(|c| columns[c].values[v]))
        .collect()
}

/// Sorts properties into the attributes of a mesh, without its topology.
pub(super) fn mesh_of(
    mut columns: Columns,
    vertex_count: usize,
    path: &Path,
    warnings: &mut Vec<Warning>,
) -> Result<Mesh, IoError> {
    let mut mesh = Mesh::default();
    match columns.take(["x", "y", "z"]) {
        Some(xyz) => mesh.positions = rows(xyz.each_ref()),
        None if vertex_count == 0 => {}
        None => {
            return Err(malformed(
                path,
                "element vertex",
                "no x, y, z",
                "x, y and z",
            ));
        }
    }
    if let Some(v) = mesh
        .positions
        .iter()
        .position(|p| !p.iter().all(|c| c.is_finite()))
    {
        let found = format!("{:?}", mesh.positions[v]);
        return Err(malformed(
            path,
            format!("vertex {v}"),
            found,
            "finite coordinates",
        ));
    }
    if let Some(n) = columns.take(["nx", "ny", "nz"]) {
        let mut normals = rows(n.each_ref());
        repair_normals(&mut normals, warnings);
        mesh.normals = Some(normals);
    }
    let uv = columns
        .take(["s", "t"])
        .or_else(|| columns.take(["u", "v"]))
        .or_else(|| columns.take(["texture_u", "texture_v"]));
    if let Some(uv) = uv {
        let mut uvs: Vec<[f32; 2]> = rows(uv.each_ref())
            .into_iter()
            .map(|[u, v]| [u, 1.0 - v])
            .collect();
        repair_numbers("texture coordinates", uvs.iter_mut().flatten(), warnings);
        mesh.uvs.push(uvs);
    }
    if let Some(rgb) = columns.take(["red", "green", "blue"]) {
        let alpha = columns.take(["alpha"]);
        let scale = |c: &Column, v: usize| c.values[v] / c.kind.full_scale();
        let linear = |c: &Column, v: usize| match c.kind {
            Scalar::F32 | Scalar::F64 => c.values[v],
            _ => linear_from_srgb(scale(c, v)),
        };
        let mut colors: Vec<[f32; 4]> = (0..vertex_count)
            .map(|v| {
                let a = alpha.as_ref().map_or(1.0, |[a]| scale(a, v));
                [
                    linear(&rgb[0], v),
                    linear(&rgb[1], v),
                    linear(&rgb[2], v),
                    a,
                ]
            })
            .collect();
        repair_numbers("colours", colors.iter_mut().flatten(), warnings);
        mesh.colors.push(colors);
    }
    for c in &mut columns.0 {
        repair_numbers(&c.name, c.values.iter_mut(), warnings);
    }
    if let Some(v) = columns.take(["vx", "vy", "vz"]) {
        mesh.attributes
            .insert("velocity".into(), Attribute::Vec3(rows(v.each_ref())));
    }
    add_attributes(columns, &mut mesh.attributes);
    Ok(mesh)
}

/// Columns named `a_x`, `a_y` and so on become one vector attribute `a`. All others become one scalar attribute each.
/// Of several columns with one name, only the first is used.
fn add_attributes(columns: Columns, attributes: &mut BTreeMap<String, Attribute>) {
    let mut by_name: BTreeMap<String, Column> = BTreeMap::new();
    for column in columns.0 {
        by_name.entry(column.name.clone()).or_insert(column);
    }
    let is_vector = |n: &&str| !n.is_empty() && by_name.contains_key(&format!("{n}_y"));
    let bases: Vec<String> = by_name
        .keys()
        .filter_map(|n| n.strip_suffix("_x").filter(is_vector).map(str::to_owned))
        .collect();
    for base in bases {
        let parts: Vec<Column> = ["x", "y", "z", "w"]
            .iter()
            .map_while(|c| by_name.remove(&format!("{base}_{c}")))
            .collect();
        let attribute = match parts.as_slice() {
            [x, y] => Attribute::Vec2(rows([x, y])),
            [x, y, z] => Attribute::Vec3(rows([x, y, z])),
            [x, y, z, w] => Attribute::Vec4(rows([x, y, z, w])),
            _ => continue,
        };
        attributes.insert(base, attribute);
    }
    for (name, column) in by_name {
        attributes.insert(name, Attribute::Scalar(column.values));
    }
}
