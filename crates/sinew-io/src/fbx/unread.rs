//! Warnings about objects that are not read.

use crate::fault::warning;
use sinew_geom::Warning;
use ufbx::{PropFlags, Scene};

/// Warns once per kind of object.
pub(super) fn warn(scene: &Scene, warnings: &mut Vec<Warning>) {
    let curves = scene.line_curves.len() + scene.nurbs_curves.len();
    let surfaces = scene.nurbs_surfaces.len() + scene.procedural_geometries.len();
    let caches = scene.cache_deformers.len();
    let cameras = scene.cameras.len() + scene.stereo_cameras.len() + scene.camera_switchers.len();
    let kinds = [
        (cameras, "cameras_skipped", "cameras"),
        (scene.lights.len(), "lights_skipped", "lights"),
        (
            curves,
            "curve_objects_skipped",
            "curves (lines, NURBS curves); convert them to meshes",
        ),
        (
            surfaces,
            "surfaces_skipped",
            "surfaces (NURBS, procedural); convert them to meshes",
        ),
        (
            caches,
            "cache_deformers_skipped",
            "cache deformers; export the cache as PC2 or MDD, and use --point-cache",
        ),
        (
            scene.constraints.len(),
            "constraints_skipped",
            "constraints; bake them to keys",
        ),
        (scene.audio_clips.len(), "audio_skipped", "audio clips"),
        (
            scene.lod_groups.len(),
            "lod_groups_ignored",
            "level-of-detail groups; all their levels are read as meshes",
        ),
        (
            unread_deformers(scene),
            "deformers_skipped",
            "deformers of unknown kinds; bake them to blend shapes",
        ),
        (
            subdivided(scene),
            "subdivision_ignored",
            "meshes with subdivision; their control meshes are read",
        ),
        (
            creased(scene),
            "creases_ignored",
            "meshes with vertex or edge creases",
        ),
        (
            further(scene),
            "attributes_of_nodes_skipped",
            "nodes with several objects; the first one is read",
        ),
        (
            properties(scene),
            "custom_properties_skipped",
            "nodes with custom properties",
        ),
    ];
    for (count, code, what) in kinds {
        if count > 0 {
            let message = format!("the file has {count} {what}: not read");
            warnings.push(warning(code, message));
        }
    }
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
    scene
        .nodes
        .iter()
        .filter(|n| n.all_attribs.len() > 1)
        .count()
}

fn properties(scene: &Scene) -> usize {
    let has = |n: &ufbx::Node| {
        let mut own = n.element.props.props.iter();
        own.any(|p| p.flags.has_any(PropFlags::USER_DEFINED))
    };
    scene.nodes.iter().filter(|n| has(n)).count()
}
