//! What a mesh file holds.

use super::joints::{self, Joints};
use serde_json::{Map, Value, json};
use sinew::geom::{
    AlphaMode, Appearance, Asset, Attribute, ExpressionOverride, ExpressionTarget, HumanoidBone,
    Material, Mesh, MorphTarget, Warning, WeldMap,
};
use sinew::io::GltfSource;
use std::collections::BTreeMap;

/// Materials, images and cameras of a glTF file, and the file itself.
pub(super) struct Looks<'a> {
    pub(super) appearance: Appearance,
    pub(super) warnings: Vec<Warning>,
    pub(super) source: &'a GltfSource,
}

pub(super) fn report(asset: &Asset, looks: Option<&Looks<'_>>) -> Value {
    let joints = Joints::of(asset);
    let clips = asset.clips.iter().map(|c| joints::clip(asset, &joints, c));
    let materials = looks.map_or(&[][..], |l| l.appearance.materials.as_slice());
    let cameras = looks.map_or(&[][..], |l| l.appearance.cameras.as_slice());
    let warnings = looks.map_or(&[][..], |l| l.warnings.as_slice());
    let warnings = asset.warnings.iter().chain(warnings);
    let material = |(i, m): (usize, &Material)| material_report(i, m, looks);
    let mut out = json!({
        "kind": "asset",
        "name": asset.name,
        "meshes": asset.meshes.iter().map(|m| mesh_report(m, &joints, materials)).collect::<Vec<_>>(),
        "strands": asset.strands.iter().map(strands_report).collect::<Vec<_>>(),
        "nodes": asset.rig.nodes().len(),
        "joints": joints.list(),
        "clips": clips.collect::<Vec<_>>(),
        "materials": materials.iter().enumerate().map(material).collect::<Vec<_>>(),
        "cameras": cameras.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
        "graph": asset.graph.is_some(),
        "warnings": warnings.map(|w| json!({ "code": w.code, "message": w.message })).collect::<Vec<_>>(),
    });
    if let (false, Some(map)) = (
        asset.humanoid.is_empty() && asset.expressions.is_empty(),
        out.as_object_mut(),
    ) {
        if let Some(version) = looks.and_then(|l| l.source.vrm_version()) {
            map.insert("vrm".into(), version.into());
        }
        map.insert("expressions".into(), expressions(asset));
        let bones = asset.humanoid.iter();
        let bone =
            |b: &HumanoidBone| json!({ "name": b.name, "node": asset.rig.nodes()[b.node].name });
        map.insert("humanoid_bones".into(), bones.map(bone).collect());
    }
    if let (Some(s), Some(map)) = (&asset.sequence, out.as_object_mut()) {
        let same = s
            .frames
            .array_windows()
            .all(|[a, b]| have_same_triangles(a, b));
        map.insert("sequence".into(), json!({ "frames": s.frames.len(), "first": s.numbers.first(), "last": s.numbers.last(), "constant_topology": same }));
    }
    out
}

/// Expressions with the morph targets that they move.
fn expressions(asset: &Asset) -> Value {
    let mut targets = BTreeMap::new();
    for mesh in &asset.meshes {
        for (t, target) in mesh.morph_targets.iter().enumerate() {
            targets.insert(mesh.morph_weight_index(t), (&mesh.name, &target.name));
        }
    }
    let target = |t: &ExpressionTarget| {
        let found = targets.get(&t.weight);
        json!({ "mesh": found.map(|f| f.0), "target": found.map(|f| f.1), "amount": t.amount })
    };
    let how = |o: ExpressionOverride| match o {
        ExpressionOverride::None => None,
        ExpressionOverride::Block => Some("block"),
        ExpressionOverride::Blend => Some("blend"),
    };
    let all = asset.expressions.iter().map(|e| {
        let [blink, look, mouth] = e.overrides.map(how);
        json!({
            "name": e.name,
            "binary": e.is_binary,
            "override_blink": blink,
            "override_look_at": look,
            "override_mouth": mouth,
            "targets": e.targets.iter().map(target).collect::<Vec<_>>(),
        })
    });
    all.collect()
}

/// Whether triangles have the same points of their files at their corners: exporters may split vertices at other normals in each frame.
fn have_same_triangles(a: &Mesh, b: &Mesh) -> bool {
    let points = |mesh: &Mesh| -> Vec<[u32; 3]> {
        let triangles = mesh.topology.triangles().iter();
        triangles.map(|t| t.map(|v| mesh.point_of(v))).collect()
    };
    a.topology == b.topology
        || (!a.points.is_empty() || !b.points.is_empty()) && points(a) == points(b)
}

fn material_report(index: usize, material: &Material, looks: Option<&Looks<'_>>) -> Value {
    let (alpha, cutoff) = match material.alpha {
        AlphaMode::Opaque => ("opaque", None),
        AlphaMode::Mask(cutoff) => ("mask", Some(cutoff)),
        AlphaMode::Blend => ("blend", None),
    };
    let textures = looks.map_or_else(Map::new, |l| textures(index, l));
    json!({
        "name": material.name,
        "base_color": material.base_color,
        "alpha": alpha,
        "alpha_cutoff": cutoff,
        "double_sided": material.double_sided,
        "textures": textures,
    })
}

/// Images of a material by use, such as `base_color` and `normal`.
fn textures(material: usize, looks: &Looks<'_>) -> Map<String, Value> {
    let json = &looks.source.json;
    let material = &json["materials"][material];
    let uses = [
        ("base_color", "/pbrMetallicRoughness/baseColorTexture/index"),
        (
            "metallic_roughness",
            "/pbrMetallicRoughness/metallicRoughnessTexture/index",
        ),
        ("normal", "/normalTexture/index"),
        ("occlusion", "/occlusionTexture/index"),
        ("emissive", "/emissiveTexture/index"),
    ];
    let named = uses.into_iter().filter_map(|(name, pointer)| {
        let texture = material.pointer(pointer)?.as_u64()?;
        let texture = json["textures"].get(usize::try_from(texture).ok()?)?;
        // Formats other than PNG and JPEG are named in extensions.
        let by_extension = || {
            let extensions = texture["extensions"].as_object()?;
            extensions.values().find_map(|e| e["source"].as_u64())
        };
        let image = usize::try_from(texture["source"].as_u64().or_else(by_extension)?).ok()?;
        let found = &json["images"][image];
        let given = ["name", "uri"].iter().find_map(|key| found[key].as_str());
        let given = given.filter(|n| !n.is_empty() && !n.starts_with("data:"));
        let image = given.map_or_else(|| format!("images[{image}]"), str::to_owned);
        Some((name.to_owned(), json!(image)))
    });
    named.collect()
}

/// A name, where there is one.
fn named(name: &str) -> Option<&str> {
    (!name.is_empty()).then_some(name)
}

fn mesh_report(m: &Mesh, joints: &Joints<'_>, materials: &[Material]) -> Value {
    let bounds = m.bounds();
    let parts = m.parts.iter().map(|part| {
        let material = part.material.and_then(|i| materials.get(i));
        json!({
            "name": part.name,
            "material": material.map(|m| m.name.as_str()),
            "vertices": part.vertices.len(),
            "triangles": part.triangles.len(),
            "flat_shaded": part.flat_shaded,
        })
    });
    let target = |(i, t): (usize, &MorphTarget)| {
        json!({
            "name": t.name,
            "vertices": t.vertices.len(),
            "largest_movement": largest(&t.positions),
            "weight": joints.morph_weight(m, i),
        })
    };
    json!({
        "name": m.name,
        "data_name": named(&m.data_name),
        "vertices": m.vertex_count(),
        "distinct_positions": WeldMap::by_position(&m.positions, 0.0).class_count(),
        "triangles": m.topology.triangles().len(),
        "normals": m.normals.is_some(),
        "tangents": m.tangents.is_some(),
        "uv_sets": m.uvs.len(),
        "color_sets": m.colors.len(),
        "influences_per_vertex": m.influences.as_ref().map_or(0, |i| i.max_per_vertex()),
        "bounds_min": bounds.map(|b| b.0),
        "bounds_max": bounds.map(|b| b.1),
        "parts": parts.collect::<Vec<_>>(),
        "attributes": attributes(m),
        "morph_targets": m.morph_targets.iter().enumerate().map(target).collect::<Vec<_>>(),
    })
}

/// Length of the longest of these vectors.
fn largest(vectors: &[[f32; 3]]) -> f64 {
    let lengths = vectors.iter().map(|v| length(&[[0.0; 3], *v]));
    lengths.fold(0.0, f64::max)
}

/// Attributes by name, with their type and the lowest and highest value of each component. NaN does not count.
fn attributes(m: &Mesh) -> Vec<Value> {
    let all = m.attributes.iter().map(|(name, attribute)| {
        let (kind, range) = match attribute {
            Attribute::Scalar(v) => ("scalar", range(v.iter().map(std::slice::from_ref))),
            Attribute::Vec2(v) => ("vec2", range(v.iter().map(<[f32; 2]>::as_slice))),
            Attribute::Vec3(v) => ("vec3", range(v.iter().map(<[f32; 3]>::as_slice))),
            Attribute::Vec4(v) => ("vec4", range(v.iter().map(<[f32; 4]>::as_slice))),
        };
        json!({ "name": name, "type": kind, "min": range.0, "max": range.1 })
    });
    all.collect()
}

fn range<'a>(rows: impl Iterator<Item = &'a [f32]>) -> (Vec<f32>, Vec<f32>) {
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for row in rows {
        low.resize(row.len(), f32::NAN);
        high.resize(row.len(), f32::NAN);
        for (c, value) in row.iter().enumerate() {
            low[c] = low[c].min(*value);
            high[c] = high[c].max(*value);
        }
    }
    (low, high)
}

fn strands_report(m: &Mesh) -> Value {
    let strands = m.topology.strands();
    let lengths: Vec<f64> = strands
        .into_iter()
        .flat_map(|s| s.ranges())
        .map(|r| length(&m.positions[r]))
        .collect();
    let shortest = lengths.iter().copied().reduce(f64::min);
    let longest = lengths.iter().copied().reduce(f64::max);
    let bounds = m.bounds();
    json!({
        "name": m.name,
        "data_name": named(&m.data_name),
        "strands": lengths.len(),
        "vertices": m.vertex_count(),
        "most_vertices_of_a_strand": strands.map_or(0, |s| s.longest()),
        "shortest": shortest,
        "longest": longest,
        "mean_length": lengths.iter().sum::<f64>() / lengths.len().max(1) as f64,
        "uv_sets": m.uvs.len(),
        "influences_per_vertex": m.influences.as_ref().map_or(0, |i| i.max_per_vertex()),
        "bounds_min": bounds.map(|b| b.0),
        "bounds_max": bounds.map(|b| b.1),
        "attributes": attributes(m),
    })
}

fn length(points: &[[f32; 3]]) -> f64 {
    let step = |w: &[[f32; 3]]| {
        let along = |c: usize| f64::from(w[1][c] - w[0][c]).powi(2);
        (along(0) + along(1) + along(2)).sqrt()
    };
    points.windows(2).map(step).sum()
}
