//! A bake that is in memory: values of any vertex in any frame, as players compute them.

use crate::lookup::{LOOKUP_BYTES, point_of_texel};
use crate::manifest::{Manifest, ManifestError};
use crate::playback::FrameBlend;

/// A manifest and the texels of its textures.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexAnimation {
    manifest: Manifest,
    texels: Vec<Vec<u8>>,
    /// Texels of the lookup; none where the manifest has none.
    lookup: Vec<u8>,
}

/// Why texels do not belong to a manifest.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnimationError {
    /// The manifest contradicts itself.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Another number of textures.
    #[error("{found} textures, the manifest has {expected}")]
    Textures {
        /// Given.
        found: usize,
        /// In the manifest.
        expected: usize,
    },
    /// A texture of another size.
    #[error("{file}: {found} bytes of texels, expected {expected}")]
    Bytes {
        /// Its (first) file.
        file: String,
        /// Given.
        found: u64,
        /// What its size and its channels take.
        expected: u64,
    },
    /// A lookup without a place in the manifest, or the other way round.
    #[error("{found} bytes of a lookup, the manifest has none")]
    NoLookup {
        /// Given.
        found: usize,
    },
    /// A corner shows a point that no frame has.
    #[error("{file}: vertex {vertex} of frame {frame} shows point {found}, there are {points}")]
    Point {
        /// File of the lookup.
        file: String,
        /// Vertex of the carrier.
        vertex: u32,
        /// The frame.
        frame: u32,
        /// What stands there.
        found: u32,
        /// Points that a frame has room for.
        points: u32,
    },
}

impl VertexAnimation {
    /// `texels` has one entry for each texture: row by row, the bytes of each texel as [`crate::texture::TextureSpec::decode`] reads them
    /// (little endian; of two textures the byte of the first, then that of the second, channel by channel).
    ///
    /// # Errors
    /// [`AnimationError`]; afterwards nothing that is asked for can be missing.
    pub fn new(manifest: Manifest, texels: Vec<Vec<u8>>) -> Result<Self, AnimationError> {
        Self::with_lookup(manifest, texels, Vec::new())
    }

    /// The same for a manifest with a lookup: its texels row by row, three bytes each (red, green, blue). Empty where the manifest has none.
    ///
    /// # Errors
    /// [`AnimationError`]; afterwards nothing that is asked for can be missing.
    pub fn with_lookup(
        manifest: Manifest,
        texels: Vec<Vec<u8>>,
        lookup: Vec<u8>,
    ) -> Result<Self, AnimationError> {
        manifest.check()?;
        let (found, expected) = (texels.len(), manifest.textures.len());
        if found != expected {
            return Err(AnimationError::Textures { found, expected });
        }
        for (texture, bytes) in manifest.textures.iter().zip(&texels) {
            let texel = texture.spec.vertex_bytes() as u64;
            let expected = manifest.texture_layout().texels().checked_mul(texel);
            check_bytes(&texture.files[0], bytes, expected)?;
        }
        check_lookup(&manifest, &lookup)?;
        Ok(Self {
            manifest,
            texels,
            lookup,
        })
    }

    /// What is known of it.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Bytes of a texture; see [`Self::new`].
    pub fn texels(&self, texture: usize) -> &[u8] {
        &self.texels[texture]
    }

    /// Bytes of the lookup; see [`Self::with_lookup`].
    pub fn lookup(&self) -> &[u8] {
        &self.lookup
    }

    /// What has the texel of a vertex in a frame, by its number in [`Manifest::texture_layout`]: the vertex, or the point that the lookup says.
    pub fn point(&self, vertex: u32, frame: u32) -> u32 {
        if self.manifest.lookup.is_none() {
            return vertex;
        }
        point_at(&self.manifest, &self.lookup, vertex, frame)
    }

    /// Number `channel` of a vertex in a frame. Indices are of the manifest's textures and layout.
    pub fn value(&self, texture: usize, vertex: u32, frame: u32, channel: usize) -> f32 {
        let spec = &self.manifest.textures[texture].spec;
        let layout = self.manifest.texture_layout();
        let [x, y] = layout.texel(self.point(vertex, frame), frame);
        let texel = y as usize * layout.size[0] as usize + x as usize;
        let at = texel * spec.vertex_bytes();
        let bytes = self.texels[texture].get(at..at + spec.vertex_bytes());
        spec.decode(bytes.unwrap_or(&[]), channel)
    }

    /// The first three numbers of a vertex in a frame: a place, an offset, a normal.
    pub fn vector(&self, texture: usize, vertex: u32, frame: u32) -> [f32; 3] {
        [0, 1, 2].map(|channel| self.value(texture, vertex, frame, channel))
    }

    /// [`Self::value`] between two frames: `a + (b - a) * weight`.
    pub fn blended(&self, texture: usize, vertex: u32, at: FrameBlend, channel: usize) -> f32 {
        let a = self.value(texture, vertex, at.frame, channel);
        if at.weight == 0.0 {
            return a;
        }
        let b = self.value(texture, vertex, at.next, channel);
        a + (b - a) * at.weight
    }
}

fn check_bytes(file: &str, bytes: &[u8], expected: Option<u64>) -> Result<(), AnimationError> {
    let (found, expected) = (bytes.len() as u64, expected.unwrap_or(u64::MAX));
    match found == expected {
        true => Ok(()),
        false => Err(AnimationError::Bytes {
            file: file.to_owned(),
            found,
            expected,
        }),
    }
}

/// Every corner shows a point that there is room for.
fn check_lookup(manifest: &Manifest, bytes: &[u8]) -> Result<(), AnimationError> {
    let Some(lookup) = &manifest.lookup else {
        let found = bytes.len();
        return match found {
            0 => Ok(()),
            _ => Err(AnimationError::NoLookup { found }),
        };
    };
    let expected = manifest.layout.texels().checked_mul(LOOKUP_BYTES as u64);
    check_bytes(&lookup.file, bytes, expected)?;
    let points = lookup.points.vertices;
    for frame in 0..manifest.layout.frames {
        for vertex in 0..manifest.layout.vertices {
            let found = point_at(manifest, bytes, vertex, frame);
            if found >= points {
                return Err(AnimationError::Point {
                    file: lookup.file.clone(),
                    vertex,
                    frame,
                    found,
                    points,
                });
            }
        }
    }
    Ok(())
}

fn point_at(manifest: &Manifest, lookup: &[u8], vertex: u32, frame: u32) -> u32 {
    let [x, y] = manifest.layout.texel(vertex, frame);
    let texel = y as usize * manifest.layout.size[0] as usize + x as usize;
    point_of_texel(lookup.get(texel * LOOKUP_BYTES..).unwrap_or(&[]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;
    use crate::manifest::{Mode, NamedClip, TextureFile};
    use crate::playback::AtEnd;
    use crate::quantity::Quantity;
    use crate::texel::{Range, TexelFormat};
    use crate::texture::TextureSpec;

    /// Three vertices, two frames, positions in 8 bits from -1 to 1.
    fn small() -> Manifest {
        let range = Range {
            scale: 2.0,
            offset: -1.0,
        };
        let spec = TextureSpec {
            quantity: Quantity::Position,
            format: TexelFormat::Unorm8,
            ranges: vec![range; 3],
        };
        let files = vec!["small_position.png".into()];
        let textures = vec![TextureFile { spec, files }];
        let layout = Layout::rows(3, 2, 64).expect("fits");
        let clips = vec![NamedClip::new("all", 0, 2, 24.0, AtEnd::Loop)];
        let bounds = ([-1.0; 3], [1.0; 3]);
        Manifest {
            can_blend: true,
            ..Manifest::new("small", Mode::Soft, layout, bounds, textures, clips)
        }
    }

    #[test]
    fn values_are_where_the_layout_says() {
        let texels: Vec<u8> = (0..18).map(|i| i * 15).collect();
        let made = VertexAnimation::new(small(), vec![texels]).expect("fits");
        // Row 1 begins at byte 9, vertex 2 at the sixth of it.
        assert_eq!(made.value(0, 2, 1, 1), 2.0 * (16.0 * 15.0 / 255.0) - 1.0);
        let at = FrameBlend {
            frame: 0,
            next: 1,
            weight: 0.5,
        };
        let middle = f32::midpoint(made.value(0, 1, 0, 0), made.value(0, 1, 1, 0));
        assert!((made.blended(0, 1, at, 0) - middle).abs() < 1e-6);
    }

    #[test]
    fn contradictions_are_named() {
        let wrong = |change: &dyn Fn(&mut Manifest), part: &str| {
            let mut manifest = small();
            change(&mut manifest);
            let text = manifest.check().expect_err(part).to_string();
            assert!(text.contains(part), "{text} has no {part}");
        };
        assert_eq!(small().check(), Ok(()));
        wrong(&|m| m.format = "other".into(), "\"other\"");
        wrong(&|m| m.version = 2, "`version` is 2");
        wrong(&|m| m.clips.clear(), "`clips` is empty");
        wrong(&|m| m.clips[0].frames.count = 3, "3 frames from 0 on");
        wrong(&|m| m.clips[0].frames.first = u32::MAX, "4294967295");
        wrong(
            &|m| m.clips[0].frames.frames_per_second = 0.0,
            "at 0 a second",
        );
        wrong(&|m| m.layout.size = [3, 1], "row 1");
        wrong(&|m| m.has_ends = true, "2 frames from 0 on");
        wrong(
            &|m| (m.has_ends, m.layout.frames) = (true, 1),
            "an even number",
        );
        wrong(&|m| m.layout.vertices = 0, "`layout`");
        wrong(&|m| m.bounds.0[1] = f32::NAN, "`bounds`");
        wrong(&|m| m.carrier = "../small.glb".into(), "../small.glb");
        wrong(&|m| m.textures[0].files.clear(), "0 files, expected 1");
        wrong(
            &|m| m.textures[0].spec.ranges.truncate(2),
            "2 channels, expected 3",
        );
        wrong(
            &|m| m.textures[0].spec.ranges[1].scale = f32::INFINITY,
            "inf",
        );
        wrong(&|m| m.textures.clear(), "0 textures");
        let short = VertexAnimation::new(small(), vec![vec![0; 17]]);
        assert!(matches!(
            short,
            Err(AnimationError::Bytes {
                found: 17,
                expected: 18,
                ..
            })
        ));
        let none = VertexAnimation::new(small(), Vec::new());
        assert!(matches!(
            none,
            Err(AnimationError::Textures {
                found: 0,
                expected: 1
            })
        ));
    }

    #[test]
    fn layouts_from_files_are_measured_without_trusting_them() {
        let layouts = [
            Layout::rows(7, 5, 64),
            Layout::blocks(10, 7, [4, 3], 2, 64),
            Layout::columns(100, 9, 1),
        ];
        for layout in layouts.map(|l| l.expect("fits")) {
            let all = (0..layout.vertices)
                .flat_map(|v| (0..layout.frames).map(move |f| layout.texel(v, f).map(u64::from)));
            let most = all.fold([0; 2], |m: [u64; 2], at| [m[0].max(at[0]), m[1].max(at[1])]);
            assert_eq!(layout.farthest(), Some(most));
        }
        use crate::layout::Arrangement;
        let mut wrong = Layout::rows(7, 5, 64).expect("fits");
        for arrangement in [
            Arrangement::Blocks {
                block: [0, 1],
                across: 1,
            },
            Arrangement::Blocks {
                block: [3, 1],
                across: 1,
            },
            Arrangement::Blocks {
                block: [7, 1],
                across: 0,
            },
            Arrangement::Columns { width: 0 },
        ] {
            wrong.arrangement = arrangement;
            assert_eq!(wrong.farthest(), None);
        }
        let largest = Arrangement::Columns { width: 1 };
        wrong = Layout {
            vertices: u32::MAX,
            frames: u32::MAX,
            arrangement: largest,
            ..wrong
        };
        assert!(
            wrong
                .farthest()
                .is_some_and(|at| at[1] > u64::from(u32::MAX))
        );
    }
}
