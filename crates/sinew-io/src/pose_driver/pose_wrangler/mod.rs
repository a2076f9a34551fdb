//! JSON of Epic's PoseWrangler for Maya, which Pose Driver Connect reads: solvers (`UERBFSolverNode`) by name, or one
//! solver next to an exported FBX file (sidecar).
//!
//! Missing fields get the defaults of PoseWrangler's importer, with a warning. Missing enumerations of a solver keep
//! the value of Maya's node and are `None` here. Enumerations are numbers or names of Maya's enumerations. Their
//! meaning depends on the plug-in; Sinew does not interpret them.

mod json;

use super::{ExtraFields, MayaMatrix, PoseDriverFileError};
use crate::IoError;
use sinew_geom::Warning;
use std::path::Path;

/// A file.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseWranglerDocument {
    /// Its content.
    pub content: PoseWranglerContent,
    /// Warnings of the reader.
    pub warnings: Vec<Warning>,
}

/// The two forms of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum PoseWranglerContent {
    /// Solvers by name.
    Solvers {
        /// In file order; keys are unique.
        solvers: Vec<PoseWranglerSolver>,
        /// Other values next to the solvers, which are not objects.
        extra: ExtraFields,
    },
    /// One solver, next to an FBX file.
    Sidecar(Box<PoseWranglerSidecar>),
}

/// The file next to an exported FBX file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoseWranglerSidecar {
    /// The solver. Its `extra` holds all fields outside the format.
    pub solver: PoseWranglerSolver,
    /// `export_fbx`: path of the FBX file on the exporter's machine.
    pub export_fbx: Option<String>,
    /// `asset_name`.
    pub asset_name: Option<String>,
}

/// One solver.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseWranglerSolver {
    /// Key in the file; for a sidecar, the `solver_name`.
    pub key: String,
    /// `solver_name`: the node in Maya.
    pub solver_name: String,
    /// `drivers`: the driver joints.
    pub drivers: Vec<String>,
    /// `driven_transforms`: the driven joints.
    pub driven_transforms: Vec<String>,
    /// `controllers`: rig controls that show a pose.
    pub controllers: Vec<String>,
    /// Poses in the order of the outputs; names are unique.
    pub poses: Vec<PoseWranglerPose>,
    /// `driven_attrs`: for each output, the attributes that it is connected to.
    pub driven_attrs: Vec<Vec<String>>,
    /// `mode`: interpolative or additive.
    pub mode: Option<MayaEnum>,
    /// `radius`, in degrees for rotations.
    pub radius: f64,
    /// `automaticRadius`.
    pub automatic_radius: bool,
    /// `weightThreshold`: smaller weights are not output.
    pub weight_threshold: Option<f64>,
    /// `distanceMethod`.
    pub distance_method: Option<MayaEnum>,
    /// `normalizeMethod`.
    pub normalize_method: Option<MayaEnum>,
    /// `functionType`: the kernel.
    pub function_type: Option<MayaEnum>,
    /// `twistAxis`.
    pub twist_axis: Option<MayaEnum>,
    /// `inputMode`: rotation or translation.
    pub input_mode: Option<MayaEnum>,
    /// Fields outside the format.
    pub extra: ExtraFields,
}

impl Default for PoseWranglerSolver {
    /// No content, radius 45 degrees.
    fn default() -> Self {
        Self {
            key: String::new(),
            solver_name: String::new(),
            drivers: Vec::new(),
            driven_transforms: Vec::new(),
            controllers: Vec::new(),
            poses: Vec::new(),
            driven_attrs: Vec::new(),
            mode: None,
            radius: 45.0,
            automatic_radius: false,
            weight_threshold: None,
            distance_method: None,
            normalize_method: None,
            function_type: None,
            twist_axis: None,
            input_mode: None,
            extra: ExtraFields::default(),
        }
    }
}

/// A value of a Maya enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MayaEnum {
    /// Its number.
    Index(i64),
    /// Its name.
    Name(String),
}

/// One pose. Matrices are relative to the parent.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseWranglerPose {
    /// Key in the file.
    pub name: String,
    /// `drivers`: one for each driver of the solver.
    pub drivers: Vec<MayaMatrix>,
    /// `controllers`: one for each control, or none.
    pub controllers: Vec<MayaMatrix>,
    /// `driven`: joints and their matrices; names are unique.
    pub driven: Vec<(String, MayaMatrix)>,
    /// `function_type`; `DefaultFunctionType` means that of the solver.
    pub function_type: String,
    /// `scale_factor` of the radius.
    pub scale_factor: f64,
    /// `distance_method`; `DefaultMethod` means that of the solver.
    pub distance_method: String,
    /// `target_enable`: true if the pose is used.
    pub target_enable: bool,
    /// `blendshape_data`: shapes that the pose drives. Their meshes are not in the file.
    pub blendshapes: Vec<PoseWranglerBlendshape>,
    /// Fields outside the format.
    pub extra: ExtraFields,
}

impl Default for PoseWranglerPose {
    /// The defaults of the importer.
    fn default() -> Self {
        Self {
            name: String::new(),
            drivers: Vec::new(),
            controllers: Vec::new(),
            driven: Vec::new(),
            function_type: "DefaultFunctionType".into(),
            scale_factor: 1.0,
            distance_method: "DefaultMethod".into(),
            target_enable: true,
            blendshapes: Vec::new(),
            extra: ExtraFields::default(),
        }
    }
}

/// A shape that a pose drives: names of nodes and indices of plugs in the scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoseWranglerBlendshape {
    /// `blendshape_mesh`: the sculpted mesh.
    pub blendshape_mesh: Option<String>,
    /// `blendshape_mesh_shape`: its shape node.
    pub blendshape_mesh_shape: Option<String>,
    /// `orig_mesh`: the mesh that is deformed.
    pub orig_mesh: Option<String>,
    /// `blendshape`: the deformer.
    pub blendshape: Option<String>,
    /// `blendshape_mesh_orig_index`.
    pub blendshape_mesh_orig_index: Option<i64>,
    /// `mesh_index`.
    pub mesh_index: Option<i64>,
    /// `pose_attr`.
    pub pose_attr: Option<String>,
    /// `pose_index`.
    pub pose_index: Option<i64>,
    /// Fields outside the format.
    pub extra: ExtraFields,
}

/// Reads a file.
///
/// # Errors
/// [`IoError::Read`]; [`IoError::PoseDriver`] with the location in the file.
pub fn read_pose_wrangler(path: &Path) -> Result<PoseWranglerDocument, IoError> {
    Ok(parse_pose_wrangler(&super::read_json(path)?, path)?)
}

/// Parses a text. `path` appears in messages.
///
/// # Errors
/// [`PoseDriverFileError`] with the location in the text.
pub fn parse_pose_wrangler(
    text: &str,
    path: &Path,
) -> Result<PoseWranglerDocument, PoseDriverFileError> {
    super::parse(text, path)
}

/// Writes a complete file or none.
///
/// # Errors
/// [`IoError::Write`]; [`IoError::PoseDriver`] if [`PoseWranglerDocument::to_json_string`] fails.
pub fn write_pose_wrangler(path: &Path, document: &PoseWranglerDocument) -> Result<(), IoError> {
    super::write(path, document)
}

impl PoseWranglerDocument {
    /// All solvers, in file order.
    pub fn solvers(&self) -> &[PoseWranglerSolver] {
        match &self.content {
            PoseWranglerContent::Solvers { solvers, .. } => solvers,
            PoseWranglerContent::Sidecar(sidecar) => std::slice::from_ref(&sidecar.solver),
        }
    }

    /// The JSON text of the document.
    ///
    /// # Errors
    /// As [`super::PsdDocument::to_json_string`].
    pub fn to_json_string(&self) -> Result<String, PoseDriverFileError> {
        super::to_text(self, Path::new("document"))
    }
}
