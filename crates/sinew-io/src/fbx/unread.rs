//! Warnings about objects that are not read.

use crate::fault::warning;
use sinew_geom::Warning;
use ufbx::{PropFlags, Scene};

/// Warns once per kind of object. `bytes` are those of the file.
pub(super) fn warn(scene: &Scene, bytes: &[u8], warnings: &mut Vec<Warning>) {
    let cameras = scene.cameras.len() + scene.stereo_cameras.len() + scene.camera_switchers.len();
    let curves = scene.line_curves.len() + scene.nurbs_curves.len();
    let surfaces = scene.nurbs_surfaces.len() + scene.procedural_geometries.len();
    let deformers = "deformers of other kinds; bake them to blend shapes";
    let caches = "cache deformers; export the cache as PC2 or MDD, and use --point-cache";
    let kinds = [
        (cameras, "cameras_skipped", "cameras"),
        (scene.lights.len(), "lights_skipped", "lights"),
        (
            curves,
            "curve_objects_skipped",
            "curves; convert them to meshes",
        ),
        (
            surfaces,
            "surfaces_skipped",
            "NURBS or procedural surfaces; convert them to meshes",
        ),
        (
            scene.cache_deformers.len(),
            "cache_deformers_skipped",
            caches,
        ),
        (unread_deformers(scene), "deformers_skipped", deformers),
        (
            scene.constraints.len(),
            "constraints_skipped",
            "constraints; bake them to keys",
        ),
        (scene.audio_clips.len(), "audio_skipped", "audio clips"),
        (
            scene.lod_groups.len(),
            "lod_groups_ignored",
            "level-of-detail groups; each level is a mesh",
        ),
        (
            subdivided(scene),
            "subdivision_ignored",
            "subdivision surfaces; their control meshes are read",
        ),
        (
            creased(scene),
            "creases_ignored",
            "meshes with creases; the creases are not read",
        ),
        (
            user_layers(bytes),
            "user_layers_skipped",
            "layers of user data of meshes",
        ),
        (
            further(scene),
            "attributes_of_nodes_skipped",
            "further objects of nodes that have several",
        ),
        (
            properties(scene),
            "custom_properties_skipped",
            "nodes with custom properties, which are not read",
        ),
    ];
    for (count, code, what) in kinds {
        if count > 0 {
            warnings.push(warning(code, format!("ignored: {count} {what}")));
        }
    }
}

/// Numbers per vertex with names of users: the library does not read them.
fn user_layers(bytes: &[u8]) -> usize {
    let after_l = bytes.split(|b| *b == b'L').skip(1);
    // The list of layers names each once more, as text.
    let is_layer =
        |rest: &&[u8]| rest.starts_with(b"ayerElementUserData") && rest.get(19) != Some(&b'"');
    after_l.filter(is_layer).count()
}

fn unread_deformers(scene: &Scene) -> usize {
    let of_mesh = |m: &ufbx::Mesh| {
        let read = m.skin_deformers.len() + m.blend_deformers.len() + m.cache_deformers.len();
        m.all_deformers.len().saturating_sub(read)
    };
    scene.meshes.iter().map(|m| of_mesh(m)).sum()
}

fn subdivided(scene: &Scene) -> usize {
    use ufbx::SubdivisionDisplayMode::{Disabled, Hull};
    let is_on = |m: &ufbx::Mesh| {
        !matches!(m.subdivision_display_mode, Disabled | Hull) && m.subdivision_render_levels > 0
    };
    scene.meshes.iter().filter(|m| is_on(m)).count()
}

fn creased(scene: &Scene) -> usize {
    let has = |m: &ufbx::Mesh| {
        let mut all = m.edge_crease.iter().chain(m.vertex_crease.values.iter());
        all.any(|c| *c != 0.0)
    };
    scene.meshes.iter().filter(|m| has(m)).count()
}

fn further(scene: &Scene) -> usize {
    let more = |n: &ufbx::Node| n.all_attribs.len().saturating_sub(1);
    scene.nodes.iter().map(|n| more(n)).sum()
}

fn properties(scene: &Scene) -> usize {
    let has = |n: &ufbx::Node| {
        let mut own = n.element.props.props.iter();
        own.any(|p| p.flags.has_any(PropFlags::USER_DEFINED))
    };
    scene.nodes.iter().filter(|n| has(n)).count()
}
