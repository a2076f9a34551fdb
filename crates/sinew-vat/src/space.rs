//! Axes and units of other programs: what becomes of the values of glTF (metres, right-handed, +Y up) in them.
//!
//! | space | place, velocity | rotation | tangent | length |
//! |---|---|---|---|---|
//! | Blender | `(x, -z, y)` | `(x, -z, y, w)` | `(x, -z, y, hand)` | 1 |
//! | Unity | `(-x, y, z)` | `(x, -y, -z, w)` | `(-x, y, z, -hand)` | 1 |
//! | Unreal | `100 (x, z, y)` | `(-x, -z, -y, w)` | `(x, z, y, -hand)` | 100 |
//!
//! The last two mirror. Whoever draws triangles there counts their corners the other way round, or has front faces that are the other
//! way round; importers see to that, for the carrier. Normals are directions and keep pointing outwards.

use crate::manifest::Space;
use crate::quantity::Quantity;
use crate::texture::Extent;
use sinew_geom::Bounds;

/// For each axis of a space: the axis of glTF that it is along, and the sign.
type Axes = [(usize, f32); 3];

impl std::fmt::Display for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::YUpRightHanded => "metres, right-handed, +Y up",
            Self::ZUpRightHanded => "metres, right-handed, +Z up",
            Self::YUpLeftHanded => "metres, left-handed, +Y up",
            Self::ZUpLeftHandedCentimeters => "centimetres, left-handed, +Z up",
        })
    }
}

impl Space {
    fn axes(self) -> Axes {
        match self {
            Self::YUpRightHanded => [(0, 1.0), (1, 1.0), (2, 1.0)],
            Self::ZUpRightHanded => [(0, 1.0), (2, -1.0), (1, 1.0)],
            Self::YUpLeftHanded => [(0, -1.0), (1, 1.0), (2, 1.0)],
            Self::ZUpLeftHandedCentimeters => [(0, 1.0), (2, 1.0), (1, 1.0)],
        }
    }

    /// Units of the space in a metre.
    pub fn units_per_metre(self) -> f32 {
        match self {
            Self::ZUpLeftHandedCentimeters => 100.0,
            _ => 1.0,
        }
    }

    /// Whether left and right change places.
    pub(crate) fn mirrors(self) -> bool {
        matches!(self, Self::YUpLeftHanded | Self::ZUpLeftHandedCentimeters)
    }

    /// A direction of glTF, in this space; as long as before.
    pub fn direction(self, v: [f32; 3]) -> [f32; 3] {
        self.axes().map(|(axis, sign)| v[axis] * sign)
    }

    /// A place, offset or velocity of glTF (metres), in this space and its unit.
    pub fn position(self, v: [f32; 3]) -> [f32; 3] {
        self.direction(v).map(|c| c * self.units_per_metre())
    }

    /// What [`Self::direction`] was given.
    pub fn direction_in_gltf(self, v: [f32; 3]) -> [f32; 3] {
        let mut out = [0.0; 3];
        for ((axis, sign), c) in self.axes().into_iter().zip(v) {
            out[axis] = c * sign;
        }
        out
    }

    /// What `Self::place` was given, metres.
    pub fn position_in_gltf(self, v: [f32; 3]) -> [f32; 3] {
        self.direction_in_gltf(v)
            .map(|c| c / self.units_per_metre())
    }

    /// A rotation of glTF (unit quaternion `x y z w`), in this space: it turns [`Self::direction`] of a vector into that of the turned one.
    pub fn rotation(self, [x, y, z, w]: [f32; 4]) -> [f32; 4] {
        // The axis of a rotation turns the other way in a mirror.
        let turn = if self.mirrors() { -1.0 } else { 1.0 };
        let [x, y, z] = self.direction([x, y, z]).map(|c| c * turn);
        [x, y, z, w]
    }

    /// What [`Self::rotation`] was given.
    pub fn rotation_in_gltf(self, [x, y, z, w]: [f32; 4]) -> [f32; 4] {
        let turn = if self.mirrors() { -1.0 } else { 1.0 };
        let [x, y, z] = self.direction_in_gltf([x, y, z]).map(|c| c * turn);
        [x, y, z, w]
    }

    /// A tangent of glTF and the hand of its bitangent (`cross(normal, tangent) * hand`), in this space.
    pub fn tangent(self, [x, y, z, hand]: [f32; 4]) -> [f32; 4] {
        // The cross product of two mirrored vectors is the mirrored one turned round.
        let turn = if self.mirrors() { -1.0 } else { 1.0 };
        let [x, y, z] = self.direction([x, y, z]);
        [x, y, z, hand * turn]
    }

    /// Numbers of a quantity of glTF, in this space and its unit; what has no axes and no unit of length stays as it is.
    pub fn numbers(self, quantity: &Quantity, v: [f32; 4]) -> [f32; 4] {
        let [x, y, z, w] = v;
        let vector = |[x, y, z]: [f32; 3]| [x, y, z, w];
        match quantity {
            Quantity::Position | Quantity::Offset | Quantity::Velocity(_) => {
                vector(self.position([x, y, z]))
            }
            Quantity::Normal => vector(self.direction([x, y, z])),
            Quantity::Tangent => self.tangent(v),
            Quantity::Rotation => self.rotation(v),
            Quantity::Size | Quantity::Thickness => v.map(|c| c * self.units_of(quantity)),
            Quantity::Uv(_) | Quantity::Color(_) | Quantity::Attribute(_) => v,
        }
    }

    /// Units of a quantity's numbers in those of glTF: [`Self::units_per_metre`] of lengths and velocities, 1 of all else.
    pub fn units_of(self, quantity: &Quantity) -> f32 {
        match quantity {
            Quantity::Position
            | Quantity::Offset
            | Quantity::Velocity(_)
            | Quantity::Size
            | Quantity::Thickness => self.units_per_metre(),
            _ => 1.0,
        }
    }

    /// The box around a box of glTF, in this space and its unit.
    pub fn bounds(self, (low, high): &Bounds) -> Bounds {
        let (a, b) = (self.position(*low), self.position(*high));
        let end = |pick: fn(f32, f32) -> f32| std::array::from_fn(|k| pick(a[k], b[k]));
        (end(f32::min), end(f32::max))
    }

    /// What a quantity that is between these values in glTF is between in this space.
    pub fn extent(self, quantity: &Quantity, extent: &Extent) -> Extent {
        let scale = self.units_of(quantity);
        match quantity {
            Quantity::Position | Quantity::Offset | Quantity::Velocity(_) => {}
            Quantity::Size | Quantity::Thickness => return self.lengths(extent),
            // Directions have the same range along all axes; the others have no axes.
            Quantity::Normal
            | Quantity::Tangent
            | Quantity::Rotation
            | Quantity::Uv(_)
            | Quantity::Color(_)
            | Quantity::Attribute(_) => return extent.clone(),
        }
        let ([.., _], [.., _]) = (&extent.least[..], &extent.most[..]) else {
            return extent.clone();
        };
        let value = |values: &[f32], axis: usize| values.get(axis).copied().unwrap_or(0.0) * scale;
        let ends = self.axes().map(|(axis, sign)| {
            let (a, b) = (value(&extent.least, axis), value(&extent.most, axis));
            if sign < 0.0 { (-b, -a) } else { (a, b) }
        });
        Extent {
            least: ends.map(|e| e.0).to_vec(),
            most: ends.map(|e| e.1).to_vec(),
        }
    }

    fn lengths(self, extent: &Extent) -> Extent {
        let scaled = |values: &[f32]| values.iter().map(|v| v * self.units_per_metre()).collect();
        Extent {
            least: scaled(&extent.least),
            most: scaled(&extent.most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sinew_geom::vec3::{cross, dot};

    const ALL: [Space; 4] = [
        Space::YUpRightHanded,
        Space::ZUpRightHanded,
        Space::YUpLeftHanded,
        Space::ZUpLeftHandedCentimeters,
    ];

    fn turned(q: [f32; 4], v: [f32; 3]) -> [f32; 3] {
        let axis = [q[0], q[1], q[2]];
        let once = cross(axis, v);
        let inner = std::array::from_fn(|k| once[k] + q[3] * v[k]);
        let twice = cross(axis, inner);
        std::array::from_fn(|k| v[k] + 2.0 * twice[k])
    }

    /// As the programs' manuals say.
    #[test]
    fn places_by_hand() {
        // A point 1 to the right, 2 up and 3 towards the viewer.
        let p = [1.0, 2.0, 3.0];
        let expected = [
            [1.0, 2.0, 3.0],
            [1.0, -3.0, 2.0],
            [-1.0, 2.0, 3.0],
            [100.0, 300.0, 200.0],
        ];
        for (space, place) in ALL.into_iter().zip(expected) {
            assert_eq!(space.position(p), place, "{space:?}");
            assert_eq!(space.position_in_gltf(place), p, "{space:?}");
        }
        let q = [0.1, 0.2, 0.3, 0.9];
        assert_eq!(ALL[1].rotation(q), [0.1, -0.3, 0.2, 0.9]);
        assert_eq!(ALL[2].rotation(q), [0.1, -0.2, -0.3, 0.9]);
        assert_eq!(ALL[3].rotation(q), [-0.1, -0.3, -0.2, 0.9]);
    }

    #[test]
    fn left_handed_spaces_mirror() {
        for space in ALL {
            let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
                .map(|axis| space.direction(axis));
            let volume = dot(cross(x, y), z);
            assert_eq!(volume < 0.0, space.mirrors(), "{space:?}");
        }
    }

    #[test]
    fn ends_of_ranges_change_places_where_the_sign_does() {
        let extent = Extent {
            least: vec![-1.0, 2.0, -3.0],
            most: vec![4.0, 5.0, 6.0],
        };
        let found = Space::ZUpRightHanded.extent(&Quantity::Offset, &extent);
        assert_eq!(found.least, [-1.0, -6.0, 2.0]);
        assert_eq!(found.most, [4.0, 3.0, 5.0]);
        let found = Space::ZUpLeftHandedCentimeters.extent(&Quantity::Position, &extent);
        assert_eq!(found.least, [-100.0, -300.0, 200.0]);
        let (low, high) = Space::YUpLeftHanded.bounds(&([-1.0, 2.0, -3.0], [4.0, 5.0, 6.0]));
        assert_eq!((low, high), ([-4.0, 2.0, -3.0], [1.0, 5.0, 6.0]));
        let colors = Quantity::Color(0);
        assert_eq!(Space::YUpLeftHanded.extent(&colors, &extent), extent);
    }

    /// By the definition of the bitangent, in each space's own axes.
    #[test]
    fn bitangents_are_the_mapped_ones() {
        // No two of them are alike in any axis.
        let (normal, tangent) = ([0.36, 0.48, 0.8], [0.8, -0.6, 0.0]);
        for (space, hand) in ALL.into_iter().flat_map(|s| [(s, 1.0), (s, -1.0)]) {
            let bitangent = cross(normal, tangent).map(|c| c * hand);
            let [x, y, z, w] = space.tangent([tangent[0], tangent[1], tangent[2], hand]);
            let found = cross(space.direction(normal), [x, y, z]).map(|c| c * w);
            let expected = space.direction(bitangent);
            let off = (0..3).map(|k| (found[k] - expected[k]).abs());
            assert!(
                off.fold(0.0, f32::max) < 1e-6,
                "{space:?}: {found:?} {expected:?}"
            );
        }
    }

    #[test]
    fn each_quantity_has_its_own_way_by_hand() {
        let v = [1.0, 2.0, 3.0, 0.5];
        let velocity = Quantity::Velocity("v".into());
        let expected = [
            (Quantity::Thickness, [100.0, 200.0, 300.0, 50.0]),
            (Quantity::Size, [100.0, 200.0, 300.0, 50.0]),
            (velocity, [100.0, 300.0, 200.0, 0.5]),
            (Quantity::Normal, [1.0, 3.0, 2.0, 0.5]),
            (Quantity::Tangent, [1.0, 3.0, 2.0, -0.5]),
            (Quantity::Rotation, [-1.0, -3.0, -2.0, 0.5]),
            (Quantity::Attribute("a".into()), v),
            (Quantity::Color(0), v),
        ];
        for (quantity, expected) in expected {
            let found = Space::ZUpLeftHandedCentimeters.numbers(&quantity, v);
            assert_eq!(found, expected, "{quantity:?}");
        }
    }

    proptest! {
        #[test]
        fn rotations_turn_what_was_mapped(
            v in prop::array::uniform3(-1.0_f32..1.0),
            q in prop::array::uniform4(-1.0_f32..1.0),
        ) {
            let length = q.iter().map(|c| c * c).sum::<f32>().sqrt();
            prop_assume!(length > 0.1);
            let q = q.map(|c| c / length);
            for space in ALL {
                let mapped = turned(space.rotation(q), space.direction(v));
                let expected = space.direction(turned(q, v));
                for k in 0..3 {
                    prop_assert!((mapped[k] - expected[k]).abs() < 1e-5, "{:?}", space);
                }
                prop_assert_eq!(space.direction_in_gltf(space.direction(v)), v);
                prop_assert_eq!(space.rotation_in_gltf(space.rotation(q)), q);
            }
        }
    }
}
