//! PoseWrangler documents to JSON and back.

use super::{
    MayaEnum, PoseWranglerBlendshape, PoseWranglerContent, PoseWranglerDocument, PoseWranglerPose,
    PoseWranglerSidecar, PoseWranglerSolver,
};
use crate::fault::quoted;
use crate::pose_driver::fields::{Fields, Notes};
use crate::pose_driver::located::Located;
use crate::pose_driver::written::{self, TwoOfOneName};
use crate::pose_driver::{Document, MayaMatrix, PoseDriverFileError, note_last_column};
use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged;
use serde_json::Value;
use std::collections::HashSet;

type Outcome<T> = Result<T, PoseDriverFileError>;

impl Document for PoseWranglerDocument {
    fn from_json(json: &Located<'_>) -> Outcome<Self> {
        let mut notes = Notes::default();
        let root = json.root()?;
        let value = |key| root.object.get(key).map(|p| &p.value);
        let is_sidecar = matches!(value("drivers"), Some(Ast::Array(_)))
            || matches!(value("solver_name"), Some(Ast::StringLit(_)));
        let content = if is_sidecar {
            let sidecar = read_sidecar(root, &mut notes)?;
            PoseWranglerContent::Sidecar(Box::new(sidecar))
        } else {
            read_solvers(json, root, &mut notes)?
        };
        Ok(Self {
            content,
            warnings: notes.into_warnings(),
        })
    }

    fn to_value(&self) -> Result<Value, TwoOfOneName> {
        match &self.content {
            PoseWranglerContent::Solvers { solvers, extra } => {
                let solvers: Result<Vec<_>, _> = solvers
                    .iter()
                    .map(|s| Ok((s.key.clone(), written::object(solver_fields(s)?, &s.extra))))
                    .collect();
                Ok(written::beside(written::named("solvers", solvers?)?, extra))
            }
            PoseWranglerContent::Sidecar(sidecar) => {
                let mut fields = solver_fields(&sidecar.solver)?;
                let text = |t: &Option<String>| t.clone().map(Value::from);
                fields.push(("export_fbx", text(&sidecar.export_fbx)));
                fields.push(("asset_name", text(&sidecar.asset_name)));
                Ok(written::object(fields, &sidecar.solver.extra))
            }
        }
    }
}

fn read_sidecar(mut fields: Fields<'_>, notes: &mut Notes) -> Outcome<PoseWranglerSidecar> {
    let export_fbx = fields.read("export_fbx", Located::text)?;
    let asset_name = fields.read("asset_name", Located::text)?;
    let mut solver = read_solver("", fields, notes)?;
    solver.key.clone_from(&solver.solver_name);
    Ok(PoseWranglerSidecar {
        solver,
        export_fbx,
        asset_name,
    })
}

fn read_solvers(
    json: &Located<'_>,
    root: Fields<'_>,
    notes: &mut Notes,
) -> Outcome<PoseWranglerContent> {
    let mut solvers = Vec::new();
    for property in root.properties() {
        if let Ast::Object(_) = property.value {
            let fields = json.fields(&property.value)?;
            solvers.push(read_solver(property.name.as_str(), fields, notes)?);
        } else {
            let message = || "this is not a solver; it is kept unchanged".into();
            notes.note("not_a_solver", "", message, || {
                json.location(property.value.range())
            });
        }
    }
    if solvers.is_empty() {
        notes.note(
            "no_solvers",
            "",
            || "the file has no solvers".into(),
            || root.location(),
        );
    }
    let extra = root.beside_objects()?;
    Ok(PoseWranglerContent::Solvers { solvers, extra })
}

fn read_solver(
    key: &str,
    mut fields: Fields<'_>,
    notes: &mut Notes,
) -> Outcome<PoseWranglerSolver> {
    let d = PoseWranglerSolver::default();
    let json = fields.document;
    let solver_name = fields.or_default("solver_name", key.to_owned(), notes, Located::text)?;
    if !key.is_empty() && key != solver_name {
        let message = || {
            format!(
                "'solver_name' is {} and differs from the key",
                quoted(solver_name.as_bytes())
            )
        };
        notes.note("solver_name_differs", "", message, || fields.location());
    }
    let drivers = json.texts(fields.required("drivers")?)?;
    let driven_transforms = fields
        .read("driven_transforms", Located::texts)?
        .unwrap_or_default();
    let controllers = fields
        .read("controllers", Located::texts)?
        .unwrap_or_default();
    let joints: HashSet<&str> = driven_transforms.iter().map(String::as_str).collect();
    let counts = Counts {
        drivers: drivers.len(),
        controllers: controllers.len(),
        driven: &joints,
    };
    let poses = json.fields(fields.required("poses")?)?;
    let poses = read_poses(&poses, &counts, notes)?;
    let attributes = |json: &Located<'_>, v: &Ast<'_>| {
        let list = json.array(v, "lists of texts")?;
        list.elements.iter().map(|v| json.texts(v)).collect()
    };
    Ok(PoseWranglerSolver {
        key: key.to_owned(),
        solver_name,
        poses,
        driven_attrs: fields.read("driven_attrs", attributes)?.unwrap_or_default(),
        mode: fields.read("mode", read_enum)?,
        radius: fields.or_default("radius", d.radius, notes, Located::number)?,
        automatic_radius: fields.or_default(
            "automaticRadius",
            d.automatic_radius,
            notes,
            Located::boolean,
        )?,
        weight_threshold: fields.read("weightThreshold", Located::number)?,
        distance_method: fields.read("distanceMethod", read_enum)?,
        normalize_method: fields.read("normalizeMethod", read_enum)?,
        function_type: fields.read("functionType", read_enum)?,
        twist_axis: fields.read("twistAxis", read_enum)?,
        input_mode: fields.read("inputMode", read_enum)?,
        drivers,
        driven_transforms,
        controllers,
        extra: fields.extra()?,
    })
}

fn read_enum(json: &Located<'_>, value: &Ast<'_>) -> Outcome<MayaEnum> {
    match value {
        Ast::StringLit(s) => Ok(MayaEnum::Name(s.value.to_string())),
        _ => json.integer(value).map(MayaEnum::Index),
    }
}

/// Counts that the poses of a solver must match.
struct Counts<'a> {
    drivers: usize,
    controllers: usize,
    driven: &'a HashSet<&'a str>,
}

fn read_poses(
    poses: &Fields<'_>,
    counts: &Counts<'_>,
    notes: &mut Notes,
) -> Outcome<Vec<PoseWranglerPose>> {
    if poses.properties().is_empty() {
        notes.note(
            "no_poses",
            "",
            || "the solver has no poses".into(),
            || poses.location(),
        );
    }
    let mut out = Vec::new();
    for property in poses.properties() {
        let fields = poses.document.fields(&property.value)?;
        out.push(read_pose(property.name.as_str(), fields, counts, notes)?);
    }
    Ok(out)
}

fn read_pose(
    name: &str,
    mut fields: Fields<'_>,
    counts: &Counts<'_>,
    notes: &mut Notes,
) -> Outcome<PoseWranglerPose> {
    let d = PoseWranglerPose::default();
    let json = fields.document;
    let value = fields.required("drivers")?;
    let drivers = read_matrices(json, value, notes)?;
    if drivers.len() != counts.drivers {
        let found = format!("{} matrices", drivers.len());
        let expected = format!("{}, one for each of the solver's 'drivers'", counts.drivers);
        return Err(json.fault(value.range(), found, expected));
    }
    let controllers = match fields.optional("controllers") {
        Some(value) => read_matrices(json, value, notes)?,
        None => Vec::new(),
    };
    if !controllers.is_empty() && controllers.len() != counts.controllers {
        let (found, wanted) = (controllers.len(), counts.controllers);
        let message = || {
            format!(
                "the pose has {found} controller matrices, but the solver has {wanted} controllers"
            )
        };
        notes.note("controllers_differ", "", message, || fields.location());
    }
    let driven = match fields.optional("driven") {
        Some(value) => read_driven(json.fields(value)?, counts, notes)?,
        None => Vec::new(),
    };
    let blendshapes = |json: &Located<'_>, v: &Ast<'_>| {
        let list = json.array(v, "objects")?;
        list.elements
            .iter()
            .map(|v| read_blendshape(json.fields(v)?))
            .collect()
    };
    Ok(PoseWranglerPose {
        name: name.to_owned(),
        drivers,
        controllers,
        driven,
        function_type: fields.or_default("function_type", d.function_type, notes, Located::text)?,
        scale_factor: fields.or_default("scale_factor", d.scale_factor, notes, Located::number)?,
        distance_method: fields.or_default(
            "distance_method",
            d.distance_method,
            notes,
            Located::text,
        )?,
        target_enable: fields.or_default(
            "target_enable",
            d.target_enable,
            notes,
            Located::boolean,
        )?,
        blendshapes: fields
            .read("blendshape_data", blendshapes)?
            .unwrap_or_default(),
        extra: fields.extra()?,
    })
}

fn read_driven(
    driven: Fields<'_>,
    counts: &Counts<'_>,
    notes: &mut Notes,
) -> Outcome<Vec<(String, MayaMatrix)>> {
    let mut out = Vec::new();
    for property in driven.properties() {
        let name = property.name.as_str();
        if !counts.driven.contains(name) {
            let message = || format!("{} is not in 'driven_transforms'", quoted(name.as_bytes()));
            let location = || driven.document.location(property.name.range());
            notes.note("joint_not_driven", "", message, location);
        }
        let matrix = read_matrix(driven.document, &property.value, notes)?;
        out.push((name.to_owned(), matrix));
    }
    Ok(out)
}

fn read_matrices(
    json: &Located<'_>,
    value: &Ast<'_>,
    notes: &mut Notes,
) -> Outcome<Vec<MayaMatrix>> {
    let list = json.array(value, "matrices, each a list of 16 numbers")?;
    list.elements
        .iter()
        .map(|v| read_matrix(json, v, notes))
        .collect()
}

fn read_matrix(json: &Located<'_>, value: &Ast<'_>, notes: &mut Notes) -> Outcome<MayaMatrix> {
    let matrix = MayaMatrix(json.numbers::<16>(value)?);
    note_last_column(&matrix, notes, || json.location(value.range()));
    Ok(matrix)
}

fn read_blendshape(mut fields: Fields<'_>) -> Outcome<PoseWranglerBlendshape> {
    Ok(PoseWranglerBlendshape {
        blendshape_mesh: fields.read("blendshape_mesh", Located::text)?,
        blendshape_mesh_shape: fields.read("blendshape_mesh_shape", Located::text)?,
        orig_mesh: fields.read("orig_mesh", Located::text)?,
        blendshape: fields.read("blendshape", Located::text)?,
        blendshape_mesh_orig_index: fields.read("blendshape_mesh_orig_index", Located::integer)?,
        mesh_index: fields.read("mesh_index", Located::integer)?,
        pose_attr: fields.read("pose_attr", Located::text)?,
        pose_index: fields.read("pose_index", Located::integer)?,
        extra: fields.extra()?,
    })
}

type Written = Vec<(&'static str, Option<Value>)>;

fn solver_fields(s: &PoseWranglerSolver) -> Result<Written, TwoOfOneName> {
    let poses: Result<Vec<_>, _> = s
        .poses
        .iter()
        .map(|p| Ok((p.name.clone(), pose_value(p)?)))
        .collect();
    let poses = Value::Object(written::named("poses", poses?)?);
    let enumeration = |e: &Option<MayaEnum>| {
        e.as_ref().map(|e| match e {
            MayaEnum::Index(index) => Value::from(*index),
            MayaEnum::Name(name) => Value::from(name.as_str()),
        })
    };
    Ok(vec![
        ("solver_name", Some(s.solver_name.as_str().into())),
        ("drivers", Some(s.drivers.clone().into())),
        (
            "driven_transforms",
            Some(s.driven_transforms.clone().into()),
        ),
        ("controllers", Some(s.controllers.clone().into())),
        ("poses", Some(poses)),
        ("driven_attrs", Some(s.driven_attrs.clone().into())),
        ("mode", enumeration(&s.mode)),
        ("radius", Some(written::number(s.radius))),
        ("automaticRadius", Some(s.automatic_radius.into())),
        ("weightThreshold", s.weight_threshold.map(written::number)),
        ("distanceMethod", enumeration(&s.distance_method)),
        ("normalizeMethod", enumeration(&s.normalize_method)),
        ("functionType", enumeration(&s.function_type)),
        ("twistAxis", enumeration(&s.twist_axis)),
        ("inputMode", enumeration(&s.input_mode)),
    ])
}

fn pose_value(p: &PoseWranglerPose) -> Result<Value, TwoOfOneName> {
    let matrix = |m: &MayaMatrix| written::numbers(&m.0);
    let driven = p.driven.iter().map(|(name, m)| (name.clone(), matrix(m)));
    let driven = Value::Object(written::named("driven joints", driven)?);
    let fields = vec![
        ("drivers", Some(p.drivers.iter().map(matrix).collect())),
        (
            "controllers",
            Some(p.controllers.iter().map(matrix).collect()),
        ),
        ("driven", Some(driven)),
        ("function_type", Some(p.function_type.as_str().into())),
        ("scale_factor", Some(written::number(p.scale_factor))),
        ("distance_method", Some(p.distance_method.as_str().into())),
        ("target_enable", Some(p.target_enable.into())),
        (
            "blendshape_data",
            Some(p.blendshapes.iter().map(blendshape_value).collect()),
        ),
    ];
    Ok(written::object(fields, &p.extra))
}

fn blendshape_value(b: &PoseWranglerBlendshape) -> Value {
    let text = |t: &Option<String>| t.clone().map(Value::from);
    let index = |i: Option<i64>| i.map(Value::from);
    let fields = vec![
        ("blendshape_mesh", text(&b.blendshape_mesh)),
        ("blendshape_mesh_shape", text(&b.blendshape_mesh_shape)),
        ("orig_mesh", text(&b.orig_mesh)),
        ("blendshape", text(&b.blendshape)),
        (
            "blendshape_mesh_orig_index",
            index(b.blendshape_mesh_orig_index),
        ),
        ("mesh_index", index(b.mesh_index)),
        ("pose_attr", text(&b.pose_attr)),
        ("pose_index", index(b.pose_index)),
    ];
    written::object(fields, &b.extra)
}
