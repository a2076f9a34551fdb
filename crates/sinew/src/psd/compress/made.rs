//! Compresses a whole character: groups, their bases, and the graph document.

use super::groups::{Group, Part, groups, parts};
use super::report::{GroupBasis, GroupReport, Kept, Unchanged};
use super::{Basis, CompressError, CompressOptions, find_basis};
use crate::deform::Par;
use crate::geom::{Asset, MorphTarget, index32};
use crate::graph::{BindOptions, LineColumn, NodeEdit, Plan, edit_node};
use crate::io::gltf_write::delta_bytes;
use crate::play::{Character, Document, PlayInputs};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Change of the morph targets of one mesh.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TargetMix {
    /// Index into the meshes of the asset.
    pub mesh: usize,
    /// Indices of removed targets, increasing.
    pub removed: Vec<usize>,
    /// Basis targets, which follow the remaining ones.
    pub added: Vec<MorphTarget>,
    /// One row per added target: its share of the weight of each removed target.
    pub weights: Vec<Vec<f64>>,
}

/// A character and its graph with bases instead of correctives. Write it with
/// [`write_compressed`](crate::psd::write_compressed).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compression {
    /// One report per node `drive_morphs` whose weights come from a pose driver.
    pub groups: Vec<GroupReport>,
    /// The document; changed only in the nodes with replaced targets.
    pub graph: String,
    /// Changes of meshes.
    pub meshes: Vec<TargetMix>,
}

/// Finds a basis of the targets of each node `drive_morphs` whose weights come from a pose driver.
///
/// A group of targets stays unchanged if something else needs them, or if a basis would not be smaller; its report has
/// the reason. Takes the time of [`find_basis`] per group.
///
/// # Errors
/// [`CompressError`]: options out of range, documents that are invalid, do not match the character or have no such
/// node. An unreached tolerance is not an error; see the report.
pub fn compress(
    character: &Arc<Character>,
    document: &Document,
    options: &CompressOptions,
) -> Result<Compression, CompressError> {
    compress_with(character, document, options, Par::Rayon)
}

/// As [`compress`], with options for binding, such as a watch that receives progress and can stop it.
///
/// # Errors
/// As [`compress`]; [`CompressError::Play`] if binding was stopped.
pub fn compress_with<'o>(
    character: &Arc<Character>,
    document: &Document,
    options: &CompressOptions,
    bind: impl Into<BindOptions<'o>>,
) -> Result<Compression, CompressError> {
    check_options(options)?;
    let plan = Arc::new(document.compile().map_err(CompressError::Graph)?);
    let cast = PlayInputs::load(character.clone(), &plan, &document.folders)?;
    // Errors of the original graph must not first appear with fewer targets.
    cast.bind_with(&plan, &[], bind)?;
    let found = groups(&plan);
    if found.is_empty() {
        return Err(CompressError::NoDriver {
            document: document.name.clone(),
        });
    }
    let mut work = Work {
        asset: &character.asset,
        plan: &plan,
        document: &document.name,
        options,
        names: Vec::new(),
        meshes: BTreeMap::new(),
        mixes: Vec::new(),
    };
    let reports = found.iter().map(|group| work.group(group)).collect();
    let graph = edited(document, &found, &work.mixes)?;
    let meshes: Vec<TargetMix> = work.meshes.into_values().map(sorted).collect();
    if !meshes.is_empty() {
        let after = Document {
            text: graph.clone(),
            ..document.clone()
        };
        after.compile().map_err(CompressError::Graph)?;
        check_other_graph(character, document, &meshes)?;
    }
    Ok(Compression {
        groups: reports,
        graph,
        meshes,
    })
}

fn check_options(options: &CompressOptions) -> Result<(), CompressError> {
    let wrong = |option, found, expected| CompressError::Option {
        option,
        found,
        expected,
    };
    let CompressOptions {
        tolerance,
        components,
        drop_share,
    } = *options;
    if !(tolerance.is_finite() && tolerance >= 0.0) {
        return Err(wrong("tolerance", tolerance, "a distance of 0 m or more"));
    }
    if !(0.0..=1.0).contains(&drop_share) {
        return Err(wrong("drop_share", drop_share, "0 to 1"));
    }
    match components {
        Some(0) => Err(wrong("components", 0.0, "1 or more")),
        _ => Ok(()),
    }
}

/// Checks whether the graph in the file uses targets that the given graph no longer needs.
fn check_other_graph(
    character: &Character,
    document: &Document,
    meshes: &[TargetMix],
) -> Result<(), CompressError> {
    let own = Document::embedded(character).filter(|own| own.name != document.name);
    let Some(own) = own else {
        return Ok(());
    };
    let gone = meshes.iter().flat_map(|m| {
        let targets = &character.asset.meshes[m.mesh].morph_targets;
        m.removed.iter().map(|&r| targets[r].name.as_str())
    });
    let named = |name: &&str| own.text.contains(&quoted(name));
    match gone.into_iter().find(named) {
        Some(target) => Err(CompressError::OtherGraph {
            file: character.path.display().to_string(),
            target: target.to_owned(),
        }),
        None => Ok(()),
    }
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The new `mix` of a node.
struct NodeMix {
    /// Index into the groups.
    node: usize,
    /// The list `targets` without removed targets.
    targets: Vec<String>,
    /// Names of basis targets, with a coefficient for each incoming weight.
    mix: Vec<(String, Vec<f32>)>,
}

struct Work<'a> {
    asset: &'a Asset,
    plan: &'a Plan,
    document: &'a str,
    options: &'a CompressOptions,
    /// Number of basis targets so far.
    names: Vec<String>,
    meshes: BTreeMap<usize, TargetMix>,
    mixes: Vec<NodeMix>,
}

impl Work<'_> {
    fn group(&mut self, group: &Group<'_>) -> GroupReport {
        let mut report = GroupReport {
            node: group.node.name.clone(),
            driver: group.driver.to_owned(),
            kept: Vec::new(),
            targets: Vec::new(),
            basis: None,
            unchanged: None,
        };
        let changed = self.reduce(group, &mut report);
        report.unchanged = changed.err();
        report
    }

    fn reduce(&mut self, group: &Group<'_>, report: &mut GroupReport) -> Result<(), Unchanged> {
        let input = group.mesh_input(self.plan, self.document)?;
        let parts = parts(self.asset, self.plan, input);
        self.sort_out(group, &parts, report);
        if report.targets.is_empty() {
            return Err(Unchanged::NoTarget);
        }
        let columns: Vec<MorphTarget> = report
            .targets
            .iter()
            .map(|name| self.column(&parts, name))
            .collect();
        let columns: Vec<&MorphTarget> = columns.iter().collect();
        let basis = find_basis(&columns, self.options);
        if basis.targets.is_empty() {
            return Err(self.nothing_left(&columns));
        }
        let names = self.names(group, basis.targets.len());
        let found = self.measured(&parts, &columns, &basis, names);
        let (before, after) = (found.bytes_before, found.bytes_after);
        let names = found.names.clone();
        report.basis = Some(found);
        if after >= before {
            return Err(Unchanged::NotSmaller {
                components: basis.targets.len(),
                before,
                after,
            });
        }
        self.put(&parts, &report.targets, &basis, &names);
        self.mixes
            .push(node_mix(group, &report.targets, &basis, &names));
        self.names.extend(names);
        Ok(())
    }

    /// Sorts the group's targets into those that a basis can replace, and those that stay.
    fn sort_out(&self, group: &Group<'_>, parts: &[Part], report: &mut GroupReport) {
        for name in &group.names {
            let is_known =
                report.targets.contains(name) || report.kept.iter().any(|k| &k.0 == name);
            if name.is_empty() || is_known {
                continue;
            }
            let kept = group.kept(self.plan, name);
            match kept.or_else(|| self.twice(parts, name)) {
                Some(why) => report.kept.push((name.clone(), why)),
                None => report.targets.push(name.clone()),
            }
        }
    }

    /// Reason if a mesh has several targets of this name.
    fn twice(&self, parts: &[Part], name: &str) -> Option<Kept> {
        let meshes = parts.iter().map(|part| &self.asset.meshes[part.mesh]);
        let count = |mesh: &&crate::geom::Mesh| {
            let named = mesh.morph_targets.iter().filter(|t| t.name == name);
            named.count() > 1
        };
        meshes
            .filter(count)
            .map(|m| m.name.clone())
            .next()
            .map(|mesh| Kept::Twice { mesh })
    }

    /// The target over all meshes of the input.
    fn column(&self, parts: &[Part], name: &str) -> MorphTarget {
        let mut out = MorphTarget::default();
        let of_part = |part: &Part| {
            let targets = self.asset.meshes[part.mesh].morph_targets.iter();
            let mut named = targets.filter(|t| t.name == name);
            named.next().map(|t| (*part, t))
        };
        let found: Vec<(Part, &MorphTarget)> = parts.iter().filter_map(of_part).collect();
        let has_normals = found.iter().any(|(_, t)| !t.normals.is_empty());
        let has_tangents = found.iter().any(|(_, t)| !t.tangents.is_empty());
        for (part, target) in found {
            let first = index32(part.first);
            out.vertices
                .extend(target.vertices.iter().map(|v| v + first));
            out.positions.extend_from_slice(&target.positions);
            let zeros = vec![[0.0; 3]; target.vertices.len()];
            let or_zeros = |list: &Vec<[f32; 3]>| match list.is_empty() {
                true => zeros.clone(),
                false => list.clone(),
            };
            if has_normals {
                out.normals.extend(or_zeros(&target.normals));
            }
            if has_tangents {
                out.tangents.extend(or_zeros(&target.tangents));
            }
        }
        out
    }

    fn nothing_left(&self, columns: &[&MorphTarget]) -> Unchanged {
        let offsets = columns.iter().flat_map(|t| &t.positions);
        let length = |d: &[f32; 3]| crate::geom::Vec3::from(d.map(f64::from)).norm();
        Unchanged::NothingLeft {
            largest: offsets.map(length).fold(0.0, f64::max),
            tolerance: self.options.tolerance,
        }
    }

    /// Unused target names that contain the driver's name.
    fn names(&self, group: &Group<'_>, count: usize) -> Vec<String> {
        let targets = self.asset.meshes.iter().flat_map(|m| &m.morph_targets);
        let taken: Vec<&str> = targets
            .map(|t| t.name.as_str())
            .chain(self.names.iter().map(String::as_str))
            .collect();
        let named = |prefix: &str| -> Vec<String> {
            (0..count).map(|k| format!("{prefix}_basis_{k}")).collect()
        };
        let numbered = (2_u64..).map(|n| format!("{}_{n}", group.driver));
        let prefixes = [group.driver.to_owned(), group.node.name.clone()];
        let mut all = prefixes.into_iter().chain(numbered).map(|p| named(&p));
        let is_free = |names: &Vec<String>| names.iter().all(|n| !taken.contains(&n.as_str()));
        all.find(is_free).unwrap_or_default()
    }

    fn measured(
        &self,
        parts: &[Part],
        columns: &[&MorphTarget],
        basis: &Basis,
        names: Vec<String>,
    ) -> GroupBasis {
        let basis_targets: Vec<&MorphTarget> = basis.targets.iter().collect();
        GroupBasis {
            names,
            bytes_before: bytes(parts, columns),
            bytes_after: bytes(parts, &basis_targets),
            report: basis.report.clone(),
        }
    }

    /// Replaces the targets by the basis in each mesh that has any of them.
    fn put(&mut self, parts: &[Part], targets: &[String], basis: &Basis, names: &[String]) {
        for part in parts {
            let all = &self.asset.meshes[part.mesh].morph_targets;
            let place = |name: &String| all.iter().position(|t| &t.name == name);
            let removed: Vec<Option<usize>> = targets.iter().map(place).collect();
            if removed.iter().all(Option::is_none) {
                continue;
            }
            let mesh = self.meshes.entry(part.mesh).or_default();
            mesh.mesh = part.mesh;
            let before = mesh.removed.len();
            mesh.removed.extend(removed.iter().flatten());
            for row in &mut mesh.weights {
                row.resize(mesh.removed.len(), 0.0);
            }
            let components = basis.targets.iter().zip(&basis.coefficients).zip(names);
            for ((target, coefficients), name) in components {
                mesh.added.push(MorphTarget {
                    name: name.clone(),
                    ..of_part(target, part)
                });
                let there = coefficients.iter().zip(&removed).filter(|c| c.1.is_some());
                let mut row = vec![0.0; before];
                row.extend(there.map(|c| f64::from(*c.0)));
                mesh.weights.push(row);
            }
        }
    }
}

/// Removed targets in increasing order, and their columns.
fn sorted(mix: TargetMix) -> TargetMix {
    let mut order: Vec<usize> = (0..mix.removed.len()).collect();
    order.sort_by_key(|&i| mix.removed[i]);
    TargetMix {
        removed: order.iter().map(|&i| mix.removed[i]).collect(),
        weights: mix
            .weights
            .iter()
            .map(|row| order.iter().map(|&i| row[i]).collect())
            .collect(),
        ..mix
    }
}

/// The part of a mesh, with its own vertex indices.
fn of_part(target: &MorphTarget, part: &Part) -> MorphTarget {
    let mut out = MorphTarget::default();
    for (row, &vertex) in target.vertices.iter().enumerate() {
        let own = (vertex as usize).checked_sub(part.first);
        let own = own.filter(|v| *v < part.vertices);
        let Some(own) = own.and_then(|v| u32::try_from(v).ok()) else {
            continue;
        };
        out.vertices.push(own);
        out.positions.push(target.positions[row]);
        out.normals.extend(target.normals.get(row));
        out.tangents.extend(target.tangents.get(row));
    }
    out
}

/// Bytes of the deltas of all targets in the file.
fn bytes(parts: &[Part], targets: &[&MorphTarget]) -> usize {
    let moved = |deltas: &[[f32; 3]]| deltas.iter().filter(|d| **d != [0.0; 3]).count();
    let of = |part: &Part, target: &&MorphTarget| -> usize {
        let own = of_part(target, part);
        let attributes = [&own.positions, &own.normals, &own.tangents];
        let bytes = attributes.map(|d| delta_bytes(moved(d), part.vertices));
        bytes.iter().sum()
    };
    let all = parts
        .iter()
        .flat_map(|p| targets.iter().map(move |t| (p, t)));
    all.map(|(p, t)| of(p, t)).sum()
}

fn node_mix(group: &Group<'_>, targets: &[String], basis: &Basis, names: &[String]) -> NodeMix {
    let column = |name: &String| targets.iter().position(|t| t == name);
    let stays = |name: &String| match column(name) {
        Some(_) => String::new(),
        None => name.clone(),
    };
    let mut left: Vec<String> = group.names.iter().map(stays).collect();
    if left.iter().all(String::is_empty) {
        left.clear();
    }
    let row = |coefficients: &Vec<f32>| -> Vec<f32> {
        let of = |name: &String| column(name).map_or(0.0, |c| coefficients[c]);
        group.names.iter().map(of).collect()
    };
    let rows = basis.coefficients.iter().map(row);
    NodeMix {
        node: group.index,
        targets: left,
        mix: names.iter().cloned().zip(rows).collect(),
    }
}

/// The document with the new mixes.
fn edited(
    document: &Document,
    groups: &[Group<'_>],
    mixes: &[NodeMix],
) -> Result<String, CompressError> {
    let mut places: Vec<(LineColumn, &Group<'_>, &NodeMix)> = Vec::new();
    for mix in mixes {
        let group = groups.iter().find(|g| g.index == mix.node);
        let place = group.and_then(|g| Some((place_of(&document.name, &g.node.location)?, g)));
        places.extend(place.map(|(place, group)| (place, group, mix)));
    }
    // From the end, so that earlier locations stay valid.
    places.sort_by_key(|p| std::cmp::Reverse((p.0.line, p.0.column)));
    let mut text = document.text.clone();
    for (place, group, mix) in places {
        let list = serde_json::json!(mix.targets).to_string();
        let mixed = mix_text(&mix.mix);
        let edits = [
            NodeEdit::SetJson {
                key: "targets",
                json: &list,
                before: "targets",
            },
            NodeEdit::SetJson {
                key: "mix",
                json: &mixed,
                before: "targets",
            },
        ];
        text = edit_node(&document.name, &text, place, &edits).map_err(|source| {
            CompressError::Edit {
                document: document.name.clone(),
                node: group.node.name.clone(),
                source,
            }
        })?;
    }
    Ok(text)
}

/// Line and column of `file:line:column`.
fn place_of(file: &str, place: &str) -> Option<LineColumn> {
    let (line, column) = place
        .strip_prefix(file)?
        .strip_prefix(':')?
        .split_once(':')?;
    Some(LineColumn {
        line: line.parse().ok()?,
        column: column.parse().ok()?,
    })
}

fn mix_text(mix: &[(String, Vec<f32>)]) -> String {
    let record = |(name, weights): &(String, Vec<f32>)| {
        // The shortest text that reads as the same number, without a minus before zero.
        let weights: Vec<String> = weights.iter().map(|w| (w + 0.0).to_string()).collect();
        format!(
            "  {{ \"target\": {}, \"weights\": [{}] }}",
            quoted(name),
            weights.join(", ")
        )
    };
    let records: Vec<String> = mix.iter().map(record).collect();
    format!("[\n{}\n]", records.join(",\n"))
}

/// Destinations of the graph of a compressed character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphPlaces<'a> {
    /// Embed it in the character's file.
    pub embed: bool,
    /// Write it to a separate file.
    pub beside: Option<&'a Path>,
}
