//! The uniforms that every pass reads: camera, lights, shadow, picture.

use crate::scene::{Background, Scene, Shot};
use sinew_geom::Bounds;
use sinew_geom::vec3::{cross, dot, length, unit};
use sinew_picture::{Camera, Lens};

/// Texels of the shadow map along each side.
pub(crate) const SHADOW_TEXELS: u32 = 1024;
/// Radius of the neighbourhood that occlusion looks at, as a part of the scene's radius.
const OCCLUSION_PART: f32 = 0.16;
/// How far the ground reaches, in radii of the scene (ground.wgsl).
const GROUND_REACH: f32 = 4.0;
/// The nearest distance is at least this part of the farthest: 24 bits of depth then tell a ten-thousandth apart.
const NEAREST_PART: f32 = 1e-4;

/// Direction to the light in camera axes (right, up, towards the camera) and linear colour: key, fill, rim.
const LIGHTS: [([f32; 3], [f32; 3]); 3] = [
    ([-0.55, 0.80, 0.60], [0.84, 0.81, 0.76]),
    ([0.85, 0.10, 0.45], [0.13, 0.155, 0.20]),
    ([0.35, 0.55, -0.80], [0.34, 0.38, 0.44]),
];

sinew_deform::uniform_struct! {
    pub(crate) struct LightUniforms {
        direction: [f32; 3],
        unused0: f32,
        color: [f32; 3],
        unused1: f32,
    }
}

sinew_deform::uniform_struct! {
    /// `View` of view.wgsl.
    pub(crate) struct ViewUniforms {
        /// By columns.
        clip_from_scene: [[f32; 4]; 4],
        shadow_from_scene: [[f32; 4]; 4],
        eye: [f32; 3],
        is_orthographic: u32,
        right: [f32; 3],
        near: f32,
        up: [f32; 3],
        far: f32,
        backward: [f32; 3],
        half_height: f32,
        size: [f32; 2],
        aspect: f32,
        ground: f32,
        center: [f32; 3],
        radius: f32,
        lights: [LightUniforms; 3],
        background_top: [f32; 4],
        background_bottom: [f32; 4],
        has_shadows: u32,
        has_occlusion: u32,
        occlusion_radius: f32,
        shadow_texel: f32,
    }
}

fn unit_or_up(v: [f32; 3]) -> [f32; 3] {
    unit(v).unwrap_or([0.0, 1.0, 0.0])
}

fn columns(rows: [[f32; 4]; 4]) -> [[f32; 4]; 4] {
    std::array::from_fn(|c| std::array::from_fn(|r| rows[r][c]))
}

/// A ball around the scene: its middle and radius, metres. Never of no size.
pub(crate) fn ball(bounds: Option<Bounds>) -> ([f32; 3], f32) {
    let (lo, hi) = bounds.unwrap_or(([-0.5; 3], [0.5; 3]));
    let center = std::array::from_fn(|c| 0.5 * (lo[c] + hi[c]));
    let half: [f32; 3] = std::array::from_fn(|c| 0.5 * (hi[c] - lo[c]));
    (center, length(half).max(1e-4))
}

/// Whether the ground is in the picture: asked for, and seen from above.
pub(crate) fn shows_ground(scene: &Scene<'_>, shot: &Shot) -> bool {
    shot.ground && shot.camera.eye()[1] > scene.ground_height()
}

fn lights(camera: &Camera) -> [LightUniforms; 3] {
    LIGHTS.map(|(d, color)| LightUniforms {
        direction: unit_or_up(std::array::from_fn(|c| {
            d[0] * camera.right()[c] + d[1] * camera.up()[c] + d[2] * camera.backward()[c]
        })),
        unused0: 0.0,
        color,
        unused1: 0.0,
    })
}

/// Nearest and farthest depth of what is drawn.
fn depth_range(camera: &Camera, center: [f32; 3], radius: f32, ground: bool) -> (f32, f32) {
    let middle = camera.depth(center);
    let far_reach = if ground { 1.5 * GROUND_REACH } else { 1.05 };
    let far = (middle + far_reach * radius).max(radius * 1e-2);
    let near = middle - 1.05 * radius;
    match camera.lens() {
        Lens::Perspective { .. } => (near.max(far * NEAREST_PART), far),
        // Nothing is behind an orthographic camera but for its near plane.
        Lens::Orthographic { .. } => (near.max(0.0), far),
    }
}

/// Rows of the map from the scene to the shadow map of a light in that direction.
fn shadow_rows(direction: [f32; 3], center: [f32; 3], radius: f32) -> [[f32; 4]; 4] {
    let aside = if direction[1].abs() < 0.99 {
        [0.0, 1.0, 0.0]
    } else {
        [1.0, 0.0, 0.0]
    };
    let right = unit_or_up(cross(aside, direction));
    let up = cross(direction, right);
    let row = |axis: [f32; 3], scale: f32, offset: f32| {
        let [x, y, z] = axis.map(|c| c * scale);
        [x, y, z, offset - scale * dot(axis, center)]
    };
    [
        row(right, 1.0 / radius, 0.0),
        row(up, 1.0 / radius, 0.0),
        // From the light's side at 0 to the far side at 1.
        row(direction, -0.5 / radius, 0.5),
        [0.0, 0.0, 0.0, 1.0],
    ]
}

impl ViewUniforms {
    /// Directions to the lights and their linear colours: key, fill, rim.
    pub(crate) fn lights(&self) -> [([f32; 3], [f32; 3]); 3] {
        self.lights.each_ref().map(|l| (l.direction, l.color))
    }

    pub(crate) fn eye(&self) -> [f32; 3] {
        self.eye
    }

    pub(crate) fn backward(&self) -> [f32; 3] {
        self.backward
    }

    pub(crate) fn is_orthographic(&self) -> bool {
        self.is_orthographic == 1
    }

    pub(crate) fn new(scene: &Scene<'_>, shot: &Shot) -> Self {
        let camera = &shot.camera;
        let (center, radius) = ball(scene.bounds);
        let lights = lights(camera);
        let ground = shows_ground(scene, shot);
        let (near, far) = depth_range(camera, center, radius, ground);
        // Room for the soft edge.
        let shadow_radius = radius * 1.03;
        let [top, bottom] = match shot.background {
            Background::Transparent => [[0.0; 4]; 2],
            Background::Plain([r, g, b]) => [[r, g, b, 1.0]; 2],
            Background::Gradient(top, bottom) => [top, bottom].map(|[r, g, b]| [r, g, b, 1.0]),
        };
        let (is_orthographic, half_height) = match camera.lens() {
            Lens::Perspective { tan_half_height } => (0, tan_half_height),
            Lens::Orthographic { half_height } => (1, half_height),
        };
        Self {
            clip_from_scene: columns(camera.clip_from_scene(near, far)),
            shadow_from_scene: columns(shadow_rows(lights[0].direction, center, shadow_radius)),
            eye: camera.eye(),
            is_orthographic,
            right: camera.right(),
            near,
            up: camera.up(),
            far,
            backward: camera.backward(),
            half_height,
            size: [shot.width as f32, shot.height as f32],
            aspect: camera.aspect(),
            ground: scene.ground_height(),
            center,
            radius,
            lights,
            background_top: top,
            background_bottom: bottom,
            has_shadows: u32::from(shot.shadows),
            has_occlusion: u32::from(shot.occlusion),
            occlusion_radius: radius * OCCLUSION_PART,
            shadow_texel: 2.0 * shadow_radius / SHADOW_TEXELS as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::surface_module;
    use sinew_deform::UniformLayout;
    use sinew_gpu::test_support::assert_layout;

    #[test]
    fn views_lie_as_the_shaders_say() {
        let module = surface_module();
        assert_layout(&module, "View", &UniformLayout::of::<ViewUniforms>());
    }

    #[test]
    fn the_scene_lies_between_near_and_far_and_in_the_shadow_map() {
        let (center, radius) = ball(Some(([-1.0, 0.0, -2.0], [3.0, 2.0, 2.0])));
        for eye in [[9.0, 2.0, 3.0], [1.5, 1.0, 0.5], [1.0, -40.0, 0.0]] {
            let lens = Lens::default();
            let camera = Camera::look_at(eye, [1.0, 1.0, 0.0], lens, 1.5).expect("two places");
            let (near, far) = depth_range(&camera, center, radius, false);
            assert!(near > 0.0 && far > near, "{near} {far}");
            let light = lights(&camera)[0].direction;
            let rows = shadow_rows(light, center, radius);
            for corner in Camera::corners([-1.0, 0.0, -2.0], [3.0, 2.0, 2.0]) {
                let depth = camera.depth(corner);
                assert!(
                    depth < far && (depth > near || near <= far * NEAREST_PART),
                    "{depth}"
                );
                let [x, y, z, _] =
                    rows.map(|r| (0..3).map(|c| r[c] * corner[c]).sum::<f32>() + r[3]);
                assert!(x.abs() <= 1.0 && y.abs() <= 1.0 && (0.0..=1.0).contains(&z));
            }
        }
    }
}
