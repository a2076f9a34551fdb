//! `sinew inspect`.

use crate::args::InspectArgs;
use crate::exit::{Failure, Outcome};
use crate::load;
use crate::reporter::{Reporter, print};
use serde_json::{Value, json};
use sinew::geom::{Appearance, Asset, Material, Mesh, Warning, WeldMap};
use sinew::io::{PointCacheReader, PointTiming, read_any, read_appearance};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

pub(super) fn inspect(args: &InspectArgs, reporter: &Reporter) -> Outcome {
    if let Some(manifest) = manifest_at(&args.file) {
        return match args.json {
            true => {
                let text = sinew::io::read_text(&manifest).map_err(Failure::input)?;
                print(&text);
                Ok(())
            }
            false => super::vat::inspect_bake(&manifest),
        };
    }
    let ending = args.file.extension().and_then(|e| e.to_str());
    let report = match ending.unwrap_or_default().to_lowercase().as_str() {
        "pc2" | "mdd" | "npz" => point_cache(&args.file)?,
        _ if load::is_document(&args.file) => {
            let plan = load::compile(&load::document(&args.file, reporter)?, reporter)?;
            let solvers: Vec<&str> = plan.solvers().map(|n| &*n.name).collect();
            json!({ "kind": "graph", "explain": plan.explain(), "solvers": solvers })
        }
        _ => match load::built_in(&args.file) {
            Some(made) => asset_report(&made?.asset, None),
            None => {
                let file = read_any(&args.file).map_err(Failure::input)?;
                let looks = file.gltf.as_ref().map(read_appearance).transpose();
                asset_report(&file.asset, looks.map_err(Failure::input)?.as_ref())
            }
        },
    };
    if args.json {
        print(&serde_json::to_string_pretty(&report).map_err(Failure::output)?);
    } else {
        print(&as_text(&report, 0));
    }
    Ok(())
}

/// The manifest of a bake, where a file or folder is one.
fn manifest_at(path: &Path) -> Option<PathBuf> {
    let is_manifest = |name: &str| name.ends_with(".vat.json");
    if path.is_dir() {
        let found = sinew::io::files_ending_with(path, ".vat.json").ok()?;
        return found.into_iter().next();
    }
    let name = path.file_name()?.to_str()?;
    is_manifest(name).then(|| path.to_owned())
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

fn point_cache(path: &Path) -> Outcome<Value> {
    let cache = PointCacheReader::open(path).map_err(Failure::input)?;
    let timing = match cache.timing() {
        PointTiming::Sampled {
            start_frame,
            sample_rate,
        } => json!({ "start_frame": start_frame, "sample_rate": sample_rate }),
        PointTiming::Seconds(t) => json!({ "first_secs": t.first(), "last_secs": t.last() }),
        _ => Value::Null,
    };
    let warnings = cache.warnings().iter();
    let warnings: Vec<Value> = warnings
        .map(|w| json!({ "code": w.code, "message": w.message }))
        .collect();
    Ok(json!({
        "kind": "point cache",
        "frames": cache.samples(),
        "points": cache.points(),
        "timing": timing,
        "warnings": warnings,
    }))
}

fn asset_report(asset: &Asset, looks: Option<&(Appearance, Vec<Warning>)>) -> Value {
    let clips: Vec<Value> = asset
        .clips
        .iter()
        .map(|c| json!({ "name": c.name, "start_secs": c.range().0, "end_secs": c.range().1, "channels": c.channels().len() }))
        .collect();
    let of_looks = looks.map_or(&[][..], |l| l.1.as_slice());
    let warnings = asset.warnings.iter().chain(of_looks);
    let warnings: Vec<Value> = warnings
        .map(|w| json!({ "code": w.code, "message": w.message }))
        .collect();
    let mut out = json!({
        "kind": "asset",
        "name": asset.name,
        "meshes": asset.meshes.iter().map(mesh_report).collect::<Vec<_>>(),
        "strands": asset.strands.iter().map(strands_report).collect::<Vec<_>>(),
        "nodes": asset.rig.nodes().len(),
        "joints": asset.rig.joints().len(),
        "joint_names": joint_names(asset),
        "clips": clips,
        "materials": looks.map_or_else(Vec::new, |l| l.0.materials.iter().map(|m| material_report(m, &l.0)).collect()),
        "cameras": looks.map_or_else(Vec::new, |l| l.0.cameras.iter().map(|c| c.name.as_str()).collect()),
        "graph": asset.graph.is_some(),
        "warnings": warnings,
    });
    if let (Some(s), Some(map)) = (&asset.sequence, out.as_object_mut()) {
        let same = s
            .frames
            .array_windows()
            .all(|[a, b]| have_same_triangles(a, b));
        map.insert("sequence".into(), json!({ "frames": s.frames.len(), "first": s.numbers.first(), "last": s.numbers.last(), "constant_topology": same }));
    }
    out
}

fn material_report(material: &Material, looks: &Appearance) -> Value {
    let image = material
        .base_color_texture
        .map(|t| match &looks.images[t.image] {
            Some(image) if image.name.is_empty() => format!("images[{}]", t.image),
            Some(image) => image.name.clone(),
            None => "cannot be shown".to_owned(),
        });
    json!({ "name": material.name, "base_color": material.base_color, "base_color_image": image })
}

/// A name, where there is one.
fn named(name: &str) -> Option<&str> {
    (!name.is_empty()).then_some(name)
}

fn mesh_report(m: &Mesh) -> Value {
    let bounds = m.bounds();
    json!({
        "name": m.name,
        "data_name": named(&m.data_name),
        "vertices": m.vertex_count(),
        "distinct_positions": WeldMap::by_position(&m.positions, 0.0).class_count(),
        "triangles": m.topology.triangles().len(),
        "parts": m.parts.len().max(1),
        "normals": m.normals.is_some(),
        "tangents": m.tangents.is_some(),
        "uv_sets": m.uvs.len(),
        "color_sets": m.colors.len(),
        "attributes": m.attributes.keys().collect::<Vec<_>>(),
        "influences_per_vertex": m.influences.as_ref().map_or(0, |i| i.max_per_vertex()),
        "morph_targets": m.morph_targets.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(),
        "bounds_min": bounds.map(|b| b.0),
        "bounds_max": bounds.map(|b| b.1),
    })
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
        "attributes": m.attributes.keys().collect::<Vec<_>>(),
        "influences_per_vertex": m.influences.as_ref().map_or(0, |i| i.max_per_vertex()),
        "bounds_min": bounds.map(|b| b.0),
        "bounds_max": bounds.map(|b| b.1),
    })
}

fn length(points: &[[f32; 3]]) -> f64 {
    let step = |w: &[[f32; 3]]| {
        let along = |c: usize| f64::from(w[1][c] - w[0][c]).powi(2);
        (along(0) + along(1) + along(2)).sqrt()
    };
    points.windows(2).map(step).sum()
}

/// The nodes that skins follow, each once, in the order of the rig.
fn joint_names(asset: &Asset) -> Vec<&str> {
    let nodes: BTreeSet<usize> = asset.rig.joints().iter().map(|j| j.node).collect();
    let named = nodes.iter().filter_map(|&n| asset.rig.nodes().get(n));
    named.map(|n| n.name.as_str()).collect()
}

/// Entries of lists that are shown without `--json`.
const SHOWN: usize = 40;

/// Indented lines; long lists are cut with a count.
fn as_text(value: &Value, indent: usize) -> String {
    let mut out = String::new();
    let pad = "  ".repeat(indent);
    if let Value::Object(map) = value {
        for (key, v) in map {
            match v {
                Value::Array(a) if a.iter().any(Value::is_object) => {
                    let _ = writeln!(out, "{pad}{key}: {}", a.len());
                    for item in a.iter().take(SHOWN) {
                        let text = as_text(item, indent + 2);
                        let _ = writeln!(out, "{pad}  - {}", text.trim_start().trim_end());
                    }
                    if a.len() > SHOWN {
                        let _ = writeln!(
                            out,
                            "{pad}  ... {} more; use --json to list all",
                            a.len() - SHOWN
                        );
                    }
                }
                Value::Array(a) if a.len() > SHOWN && a.iter().all(Value::is_string) => {
                    let first = Value::from(&a[..SHOWN]);
                    let more = a.len() - SHOWN;
                    let _ = writeln!(
                        out,
                        "{pad}{key}: {first} and {more} more; use --json to list all"
                    );
                }
                Value::Object(_) => {
                    let _ = write!(out, "{pad}{key}:\n{}", as_text(v, indent + 1));
                }
                Value::String(s) if s.contains('\n') => {
                    let _ = writeln!(out, "{pad}{key}:");
                    for line in s.lines() {
                        let _ = writeln!(out, "{pad}  {line}");
                    }
                }
                Value::String(s) => {
                    let _ = writeln!(out, "{pad}{key}: {s}");
                }
                Value::Null => {}
                _ => {
                    let _ = writeln!(out, "{pad}{key}: {v}");
                }
            }
        }
    }
    out
}
