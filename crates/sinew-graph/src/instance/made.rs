//! What nodes that run in setup write to.

use super::layout::{MeshValue, effects};
use super::setup::Binder;
use sinew_deform::{AttributeEffect, Line, MadeAttribute, MeshEffect, MeshViewMut, OutputValue};

/// What a node that runs in setup writes to.
pub(super) enum Made {
    Mesh {
        from: Option<MeshValue>,
        positions: Option<Vec<[f32; 3]>>,
        normals: Option<Vec<[f32; 3]>>,
        tangents: Option<Vec<[f32; 4]>>,
        colors: Option<Vec<[f32; 4]>>,
        stale: [bool; 4],
    },
    Mask(Vec<f32>),
    Values(Vec<f32>),
    Lines(Vec<Line>),
}

impl Made {
    pub(super) fn mesh(
        binder: &Binder<'_>,
        from: Option<MeshValue>,
        effect: &MeshEffect,
        makes: &dyn Fn(MadeAttribute) -> bool,
    ) -> Self {
        let n = from.map_or(0, |m| binder.constants[m.rest].vertex_count());
        let mut stale = [false; 4];
        let mut writes = [false; 4];
        if let Some(m) = &from {
            for (a, kind) in effects(effect).into_iter().enumerate() {
                let (exists, is_stale) = Binder::attribute_state(m, kind, a, makes);
                stale[a] = is_stale;
                writes[a] = exists
                    && !is_stale
                    && matches!(
                        kind,
                        AttributeEffect::Transform | AttributeEffect::Recompute
                    );
            }
        }
        Self::Mesh {
            from,
            positions: writes[0].then(|| vec![[0.0; 3]; n]),
            normals: writes[1].then(|| vec![[0.0; 3]; n]),
            tangents: writes[2].then(|| vec![[0.0; 4]; n]),
            colors: writes[3].then(|| vec![[0.0; 4]; n]),
            stale,
        }
    }

    /// Which attributes of a mesh are written.
    pub(super) fn written(&self) -> Option<[bool; 4]> {
        match self {
            Self::Mesh {
                positions,
                normals,
                tangents,
                colors,
                ..
            } => Some([
                positions.is_some(),
                normals.is_some(),
                tangents.is_some(),
                colors.is_some(),
            ]),
            _ => None,
        }
    }

    pub(super) fn value(&mut self) -> Option<OutputValue<'_>> {
        Some(match self {
            Self::Mesh {
                positions,
                normals,
                tangents,
                colors,
                ..
            } => OutputValue::Mesh(MeshViewMut {
                positions: positions.as_deref_mut(),
                normals: normals.as_deref_mut(),
                tangents: tangents.as_deref_mut(),
                colors: colors.as_deref_mut(),
            }),
            Self::Mask(v) => OutputValue::Mask(v),
            Self::Values(v) => OutputValue::Values(v),
            Self::Lines(v) => OutputValue::Lines(v),
        })
    }
}
