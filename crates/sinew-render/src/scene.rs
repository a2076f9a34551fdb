//! What is drawn, and how.

use crate::lines::Lines;
use crate::materials::Materials;
use crate::surface::Surface;
use sinew_geom::Bounds;
use sinew_picture::{Camera, ColorMap};

/// Everything in one picture.
#[derive(Clone, Debug, Default)]
pub struct Scene<'a> {
    /// Surfaces, drawn in this order.
    pub surfaces: Vec<SurfaceLook<'a>>,
    /// Lines, after the surfaces of their layer.
    pub lines: Vec<LinesLook<'a>>,
    /// What the scene fills, over the whole animation: shadow, ground and depth are fitted to it, so that frames agree. Metres.
    pub bounds: Option<Bounds>,
    /// Height of the ground, metres; `None` for the lowest of the bounds.
    pub ground: Option<f32>,
}

impl Scene<'_> {
    /// Height of the ground.
    pub(crate) fn ground_height(&self) -> f32 {
        let lowest = self.bounds.map_or(0.0, |b| b.0[1]);
        self.ground.unwrap_or(lowest)
    }
}

/// Whether things are part of the scene or shine through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layer {
    /// Hidden by what is before it.
    #[default]
    Scene,
    /// Drawn after everything else and hidden only by other things of this layer.
    Overlay,
}

/// A surface and how it looks.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceLook<'a> {
    /// What is drawn.
    pub surface: &'a Surface,
    /// Its colour.
    pub paint: Paint<'a>,
    /// How it is lit.
    pub lighting: Lighting,
    /// Edges of the triangles over it.
    pub wireframe: Option<Wireframe>,
    /// Whether it shines through.
    pub layer: Layer,
}

impl<'a> SurfaceLook<'a> {
    /// A clay surface in the studio.
    pub fn clay(surface: &'a Surface) -> Self {
        Self {
            surface,
            paint: Paint::CLAY,
            lighting: Lighting::Studio,
            wireframe: None,
            layer: Layer::Scene,
        }
    }
}

/// Where the colour of a surface comes from.
#[derive(Clone, Copy, Debug)]
pub enum Paint<'a> {
    /// One linear RGBA colour.
    Plain([f32; 4]),
    /// Base colour factors and textures of these materials times the vertex colours of the file; clay where a part has no material.
    Material(&'a Materials),
    /// The surface's colours, linear RGBA.
    Colors,
    /// Squares along the texture coordinates.
    Checker,
    /// The surface's numbers through a colour map.
    Values(ValueScale),
    /// Distance between the surface's positions and its other positions in metres, times `factor`, through a colour map.
    Distance {
        /// Colours of the product.
        scale: ValueScale,
        /// 1000 for millimetres.
        factor: f32,
    },
    /// Normals: sRGB value = n * 0.5 + 0.5 in scene space.
    Normals,
}

impl Paint<'_> {
    /// A quiet warm grey.
    pub const CLAY: Self = Self::Plain([0.55, 0.52, 0.48, 1.0]);
}

/// Which number gets which colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueScale {
    /// The number of the map's first colour; smaller ones look the same.
    pub min: f32,
    /// The number of the map's last colour; greater ones look the same.
    pub max: f32,
    /// The colours.
    pub map: ColorMap,
}

/// How a surface is lit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lighting {
    /// Three lights, soft shadow, occlusion.
    #[default]
    Studio,
    /// From the camera, nearly even: shape shows, and colours of a map stay readable.
    Soft,
    /// A ball of wax instead of light and colour: shape alone.
    Matcap,
    /// Not at all: pixels have exactly the colours of the paint.
    Flat,
}

/// Edges of triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wireframe {
    /// Linear RGB.
    pub color: [f32; 3],
    /// Pixels.
    pub width: f32,
}

/// Lines and how they look.
#[derive(Clone, Copy, Debug)]
pub struct LinesLook<'a> {
    /// What is drawn.
    pub lines: &'a Lines,
    /// Pixels.
    pub width: f32,
    /// How much of those behind a surface is seen, 0 to 1.
    pub behind: f32,
    /// Whether they shine through.
    pub layer: Layer,
}

/// What is behind the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Background {
    /// Nothing: alpha zero.
    Transparent,
    /// One linear RGB colour.
    Plain([f32; 3]),
    /// Linear RGB from top to bottom.
    Gradient([f32; 3], [f32; 3]),
}

impl Background {
    /// A quiet light grey gradient for documents.
    pub const STUDIO: Self = Self::Gradient([0.86, 0.88, 0.90], [0.62, 0.64, 0.67]);
}

/// One picture of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Shot {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Where from; its aspect should be that of the picture.
    pub camera: Camera,
    /// What is behind everything.
    pub background: Background,
    /// A ground below the scene's bounds that takes shadow.
    pub ground: bool,
    /// Soft shadow of the key light.
    pub shadows: bool,
    /// Darker corners and creases.
    pub occlusion: bool,
}

impl Shot {
    /// With everything that a studio has.
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
