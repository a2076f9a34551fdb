//! Scenes, looks and shots.

use crate::hair::Hair;
use crate::lines::Lines;
use crate::materials::Materials;
use crate::surface::Surface;
use sinew_geom::Bounds;
use sinew_picture::{Camera, ColorMap};

/// The content of one picture.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Scene<'a> {
    /// Surfaces, drawn in this order.
    pub surfaces: Vec<SurfaceLook<'a>>,
    /// Lines, after the surfaces of their layer.
    pub lines: Vec<LinesLook<'a>>,
    /// Strands of hair, after the surfaces of the scene. They shade each other, as if they were one.
    pub hair: Vec<&'a Hair>,
    /// Bounding box of the scene over the whole animation, in metres. Shadow, ground and depth range depend on it: use the same box for
    /// all frames.
    pub bounds: Option<Bounds>,
    /// Height of the ground in metres; if `None`, the lowest point of the bounds.
    pub ground: Option<f32>,
}

impl Scene<'_> {
    /// Height of the ground.
    pub(crate) fn ground_height(&self) -> f32 {
        let lowest = self.bounds.map_or(0.0, |b| b.0[1]);
        self.ground.unwrap_or(lowest)
    }
}

/// Whether something is part of the scene or drawn over it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layer {
    /// Hidden by nearer parts of the scene.
    #[default]
    Scene,
    /// Drawn over the scene; hidden only by other parts of this layer.
    Overlay,
}

/// A surface and its look: [`SurfaceLook::clay`], with what differs.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SurfaceLook<'a> {
    /// The surface to draw.
    pub surface: &'a Surface,
    /// Its colour.
    pub paint: Paint<'a>,
    /// Its lighting.
    pub lighting: Lighting,
    /// Edges of the triangles, drawn over it.
    pub wireframe: Option<Wireframe>,
    /// Its layer.
    pub layer: Layer,
}

impl<'a> SurfaceLook<'a> {
    /// A surface with clay paint and studio lighting.
    pub fn clay(surface: &'a Surface) -> Self {
        Self {
            surface,
            paint: Paint::CLAY,
            lighting: Lighting::Studio,
            wireframe: None,
            layer: Layer::Scene,
        }
    }

    /// With this paint.
    pub fn paint(self, paint: Paint<'a>) -> Self {
        Self { paint, ..self }
    }
    /// With this lighting.
    pub fn lighting(self, lighting: Lighting) -> Self {
        Self { lighting, ..self }
    }
    /// With edges, or with `None` without them.
    pub fn wireframe(self, wireframe: impl Into<Option<Wireframe>>) -> Self {
        let wireframe = wireframe.into();
        Self { wireframe, ..self }
    }
    /// In this layer.
    pub fn layer(self, layer: Layer) -> Self {
        Self { layer, ..self }
    }
}

/// Where the colour of a surface comes from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Paint<'a> {
    /// One linear RGBA colour.
    Plain([f32; 4]),
    /// Base colour factors and textures of these materials, multiplied by the vertex colours of the file. Clay for parts without a
    /// material.
    Material(&'a Materials),
    /// The surface's colours, linear RGBA.
    Colors,
    /// A checkerboard along the texture coordinates.
    Checker,
    /// The surface's values through a colour map.
    Values(ValueScale),
    /// Distance in metres between the surface's positions and its other positions, times `factor`, through a colour map.
    Distance {
        /// Colours of the scaled distance.
        scale: ValueScale,
        /// Scale factor; 1000 for millimetres.
        factor: f32,
    },
    /// Normals in scene space as colours: sRGB value = n * 0.5 + 0.5.
    Normals,
}

impl Paint<'_> {
    /// A neutral warm grey.
    pub const CLAY: Self = Self::Plain([0.55, 0.52, 0.48, 1.0]);
}

/// Mapping from values to colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueScale {
    /// Value of the map's first colour; smaller values get the same colour.
    pub min: f32,
    /// Value of the map's last colour; larger values get the same colour.
    pub max: f32,
    /// The colour map.
    pub map: ColorMap,
}

/// Lighting of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lighting {
    /// Three lights, soft shadow and ambient occlusion.
    #[default]
    Studio,
    /// Soft light from the camera: the shape is visible and colours of a map stay readable.
    Soft,
    /// A matcap that replaces light and colour: shows only the shape.
    Matcap,
    /// No lighting: pixels have exactly the colours of the paint.
    Flat,
}

/// Edges of triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wireframe {
    /// Colour, linear RGB.
    pub color: [f32; 3],
    /// Width in pixels.
    pub width: f32,
}

/// Lines and their look.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LinesLook<'a> {
    /// The lines to draw.
    pub lines: &'a Lines,
    /// Width in pixels.
    pub width: f32,
    /// Opacity of lines behind a surface, 0 to 1.
    pub behind: f32,
    /// Their layer.
    pub layer: Layer,
}

impl<'a> LinesLook<'a> {
    /// Lines of `width` pixels in the scene, hidden behind surfaces.
    pub fn new(lines: &'a Lines, width: f32) -> Self {
        Self {
            lines,
            width,
            behind: 0.0,
            layer: Layer::Scene,
        }
    }

    /// With this opacity behind a surface, 0 to 1.
    pub fn behind(self, behind: f32) -> Self {
        Self { behind, ..self }
    }
    /// In this layer.
    pub fn layer(self, layer: Layer) -> Self {
        Self { layer, ..self }
    }
}

/// Background of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Background {
    /// Transparent: alpha 0.
    Transparent,
    /// One linear RGB colour.
    Plain([f32; 3]),
    /// Linear RGB at the top and at the bottom.
    Gradient([f32; 3], [f32; 3]),
}

impl Background {
    /// A light grey gradient for documents.
    pub const STUDIO: Self = Self::Gradient([0.86, 0.88, 0.90], [0.62, 0.64, 0.67]);
}

/// Settings of one picture of a scene: [`Shot::studio`], with the fields that differ.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Shot {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Camera; its aspect ratio should be that of the picture.
    pub camera: Camera,
    /// Background.
    pub background: Background,
    /// Whether there is a ground that receives shadows.
    pub ground: bool,
    /// Whether the key light casts soft shadows.
    pub shadows: bool,
    /// Whether there is ambient occlusion.
    pub occlusion: bool,
}

impl Shot {
    /// A shot with all effects on and the background [`Background::STUDIO`].
    pub fn studio(width: u32, height: u32, camera: Camera) -> Self {
        Self {
            width,
            height,
            camera,
            background: Background::STUDIO,
            ground: true,
            shadows: true,
            occlusion: true,
        }
    }
}
