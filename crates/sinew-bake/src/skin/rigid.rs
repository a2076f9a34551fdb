//! The rigid motion that takes points nearest to others.

use sinew_geom::{Affine, Mat3, Vec3, nearest_rotation};

/// Sums over weighted pairs of points, from which the motion follows: least squares of `|R p + t - q|^2`.
///
/// Source: Kabsch 1976 and Arun, Huang and Blostein 1987, with the sign that keeps it a rotation (Umeyama 1991); as the transformation step of Le
/// and Deng, "Smooth Skinning Decomposition with Rigid Bones", 2012.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pairs {
    weight: f64,
    /// The first pair: all is relative to it, so that nothing is lost far from the origin.
    first: Option<[Vec3<f64>; 2]>,
    from: Vec3<f64>,
    to: Vec3<f64>,
    products: Mat3<f64>,
}

/// Share of the spread of the points with which the rotation is kept where they do not determine it.
const KEPT: f64 = 1e-10;

impl Pairs {
    pub(crate) fn add(&mut self, from: Vec3<f64>, to: Vec3<f64>, weight: f64) {
        let [first_from, first_to] = *self.first.get_or_insert([from, to]);
        let (from, to) = (from - first_from, to - first_to);
        self.weight += weight;
        self.from += from * weight;
        self.to += to * weight;
        self.products += from * (to * weight).transpose();
    }

    /// The motion; `before` where the points do not say: wholly without weight, and its turn about the line of points that lie on one.
    pub(crate) fn motion(&self, before: &Affine<f64>) -> Affine<f64> {
        let Some([first_from, first_to]) = self.first.filter(|_| self.weight > 0.0) else {
            return *before;
        };
        let (from, to) = (self.from / self.weight, self.to / self.weight);
        let spread = self.products - from * to.transpose() * self.weight;
        let kept = (spread.norm() * KEPT).max(1e-30);
        let kept = before.linear.transpose() * kept;
        let rotation = nearest_rotation(&(spread + kept).transpose());
        Affine {
            linear: rotation,
            translation: first_to + to - rotation * (first_from + from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::Quat;

    fn motion() -> Affine<f64> {
        Affine::from_trs(
            Vec3::new(1.0, -2.0, 3.0),
            Quat::from_euler_angles(0.4, -2.1, 1.3),
            Vec3::repeat(1.0),
        )
    }

    fn off(a: &Affine<f64>, b: &Affine<f64>) -> f64 {
        (a.linear - b.linear).norm() + (a.translation - b.translation).norm()
    }

    #[test]
    fn a_known_motion_is_found_far_from_the_origin_and_in_a_plane() {
        let x = motion();
        for flat in [1.0, 0.0] {
            let mut pairs = Pairs::default();
            for k in 0..20 {
                let t = f64::from(k);
                let p = Vec3::new(t.sin() + 100.0, t.cos(), flat * (2.0 * t).sin());
                pairs.add(p, x.point(p), 1.0 + t);
            }
            let found = pairs.motion(&Affine::identity());
            assert!(off(&found, &x) < 1e-7, "{flat}: {found:?}");
        }
    }

    /// Mirrored points have no rotation that fits; what is found is one all the same.
    #[test]
    fn mirrored_points_give_a_rotation() {
        let mut pairs = Pairs::default();
        for p in [
            [1.0, 0.0, 0.0],
            [0.0, 2.0, 0.0],
            [0.0, 0.0, 3.0],
            [1.0, 1.0, 1.0],
        ] {
            let p = Vec3::from(p);
            pairs.add(p, Vec3::new(-p.x, p.y, p.z), 1.0);
        }
        let found = pairs.motion(&Affine::identity());
        assert!(
            (found.linear.determinant() - 1.0).abs() < 1e-12,
            "{found:?}"
        );
    }

    /// One point says where to, not how turned; points on a line do not say how turned about it.
    #[test]
    fn what_points_do_not_say_stays() {
        let x = motion();
        let mut one = Pairs::default();
        let p = Vec3::new(0.3, 0.2, 0.1);
        one.add(p, x.point(p), 2.0);
        assert!(off(&one.motion(&x), &x) < 1e-9, "one point");
        one.add(p * 2.0, x.point(p * 2.0), 1.0);
        assert!(off(&one.motion(&x), &x) < 1e-5, "a line");
        assert_eq!(Pairs::default().motion(&x), x);
    }
}
