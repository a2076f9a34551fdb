//! Vectors, unit quaternions, symmetric matrices and rigid motions of [`Number`]s.

use super::number::Number;
use std::ops::{Add, Mul, Neg, Sub};

/// A vector.
#[derive(Clone, Copy)]
pub(crate) struct V<N> {
    pub(crate) x: N,
    pub(crate) y: N,
    pub(crate) z: N,
}

impl<N: Number> V<N> {
    #[inline(always)]
    pub(crate) fn new(x: N, y: N, z: N) -> Self {
        Self { x, y, z }
    }
    #[inline(always)]
    pub(crate) fn zero(like: N) -> Self {
        let o = like.k(0.0);
        Self::new(o, o, o)
    }
    #[inline(always)]
    pub(crate) fn load(token: N::Token, s: &[N::Stored; 3]) -> Self {
        Self::new(
            N::load(token, &s[0]),
            N::load(token, &s[1]),
            N::load(token, &s[2]),
        )
    }
    #[inline(always)]
    pub(crate) fn store(self, s: &mut [N::Stored; 3]) {
        self.x.store(&mut s[0]);
        self.y.store(&mut s[1]);
        self.z.store(&mut s[2]);
    }
    #[inline(always)]
    pub(crate) fn dot(self, o: Self) -> N {
        (self.x * o.x).plus(self.y, o.y).plus(self.z, o.z)
    }
    #[inline(always)]
    pub(crate) fn cross(self, o: Self) -> Self {
        Self::new(
            self.y * o.z - self.z * o.y,
            self.z * o.x - self.x * o.z,
            self.x * o.y - self.y * o.x,
        )
    }
    #[inline(always)]
    pub(crate) fn squared(self) -> N {
        self.dot(self)
    }
    #[inline(always)]
    pub(crate) fn norm(self) -> N {
        self.squared().sqrt()
    }
    /// `self + v f`.
    #[inline(always)]
    pub(crate) fn plus(self, v: Self, f: N) -> Self {
        Self::new(
            self.x.plus(v.x, f),
            self.y.plus(v.y, f),
            self.z.plus(v.z, f),
        )
    }
    /// The part across a unit vector.
    #[inline(always)]
    pub(crate) fn across(self, n: Self) -> Self {
        self - n * self.dot(n)
    }
    #[inline(always)]
    pub(crate) fn pick(mask: N::Mask, a: Self, b: Self) -> Self {
        Self::new(
            N::pick(mask, a.x, b.x),
            N::pick(mask, a.y, b.y),
            N::pick(mask, a.z, b.z),
        )
    }
}

impl<N: Number> Add for V<N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl<N: Number> Sub for V<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self::new(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl<N: Number> Mul<N> for V<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, f: N) -> Self {
        Self::new(self.x * f, self.y * f, self.z * f)
    }
}

impl<N: Number> Neg for V<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}

/// Three vectors: the axes of a frame, or the rows or columns of a matrix.
pub(crate) type M<N> = [V<N>; 3];

/// The coordinates of `v` along three axes: rows times `v`.
#[inline(always)]
pub(crate) fn rows_times<N: Number>(rows: &M<N>, v: V<N>) -> V<N> {
    V::new(rows[0].dot(v), rows[1].dot(v), rows[2].dot(v))
}

/// The vector with coordinates `v` along three axes: columns times `v`.
#[inline(always)]
pub(crate) fn columns_times<N: Number>(columns: &M<N>, v: V<N>) -> V<N> {
    (columns[0] * v.x)
        .plus(columns[1], v.y)
        .plus(columns[2], v.z)
}

/// A unit quaternion: how a segment is rotated. Its first axis is the direction of the segment.
#[derive(Clone, Copy)]
pub(crate) struct Turn<N> {
    pub(crate) w: N,
    pub(crate) v: V<N>,
}

impl<N: Number> Turn<N> {
    #[inline(always)]
    pub(crate) fn load(token: N::Token, s: &[N::Stored; 4]) -> Self {
        Self {
            w: N::load(token, &s[3]),
            v: V::new(
                N::load(token, &s[0]),
                N::load(token, &s[1]),
                N::load(token, &s[2]),
            ),
        }
    }
    #[inline(always)]
    pub(crate) fn store(self, s: &mut [N::Stored; 4]) {
        self.v.x.store(&mut s[0]);
        self.v.y.store(&mut s[1]);
        self.v.z.store(&mut s[2]);
        self.w.store(&mut s[3]);
    }
    /// First `other`, then this.
    #[inline(always)]
    pub(crate) fn times(self, other: Self) -> Self {
        Self {
            w: self.w * other.w - self.v.dot(other.v),
            v: other.v * self.w + self.v * other.w + self.v.cross(other.v),
        }
    }
    #[inline(always)]
    pub(crate) fn unit(self) -> Self {
        let factor = self.w.k(1.0) / (self.w * self.w + self.v.squared()).sqrt();
        Self {
            w: self.w * factor,
            v: self.v * factor,
        }
    }
    /// The first axis.
    #[inline(always)]
    pub(crate) fn along(self) -> V<N> {
        let (one, two) = (self.w.k(1.0), self.w.k(2.0));
        let V { x, y, z } = self.v;
        V::new(
            one - two * (y * y + z * z),
            two * (x * y + self.w * z),
            two * (x * z - self.w * y),
        )
    }
    /// All three axes.
    #[inline(always)]
    pub(crate) fn axes(self) -> M<N> {
        let (one, two, w) = (self.w.k(1.0), self.w.k(2.0), self.w);
        let V { x, y, z } = self.v;
        [
            self.along(),
            V::new(
                two * (x * y - w * z),
                one - two * (x * x + z * z),
                two * (y * z + w * x),
            ),
            V::new(
                two * (x * z + w * y),
                two * (y * z - w * x),
                one - two * (x * x + y * y),
            ),
        ]
    }
    #[inline(always)]
    pub(crate) fn pick(mask: N::Mask, a: Self, b: Self) -> Self {
        Self {
            w: N::pick(mask, a.w, b.w),
            v: V::pick(mask, a.v, b.v),
        }
    }
    /// The shortest rotation from one unit vector to another; half a turn is taken about some axis.
    #[inline(always)]
    pub(crate) fn arc(from: V<N>, to: V<N>) -> Self {
        let w = (from.dot(to) + from.x.k(1.0)).max(from.x.k(1e-6));
        Self {
            w,
            v: from.cross(to),
        }
        .unit()
    }
}

/// A symmetric matrix.
#[derive(Clone, Copy)]
pub(crate) struct Sym<N> {
    pub(crate) xx: N,
    pub(crate) xy: N,
    pub(crate) xz: N,
    pub(crate) yy: N,
    pub(crate) yz: N,
    pub(crate) zz: N,
}

impl<N: Number> Sym<N> {
    #[inline(always)]
    pub(crate) fn diagonal(d: N) -> Self {
        let o = d.k(0.0);
        Self {
            xx: d,
            xy: o,
            xz: o,
            yy: d,
            yz: o,
            zz: d,
        }
    }
    /// `v v^T factor`.
    #[inline(always)]
    pub(crate) fn outer(v: V<N>, factor: N) -> Self {
        let a = v * factor;
        Self {
            xx: a.x * v.x,
            xy: a.x * v.y,
            xz: a.x * v.z,
            yy: a.y * v.y,
            yz: a.y * v.z,
            zz: a.z * v.z,
        }
    }
    #[inline(always)]
    pub(crate) fn times(self, v: V<N>) -> V<N> {
        V::new(
            (self.xx * v.x).plus(self.xy, v.y).plus(self.xz, v.z),
            (self.xy * v.x).plus(self.yy, v.y).plus(self.yz, v.z),
            (self.xz * v.x).plus(self.yz, v.y).plus(self.zz, v.z),
        )
    }
    /// Rows, which are columns, too.
    #[inline(always)]
    pub(crate) fn rows(self) -> M<N> {
        [
            V::new(self.xx, self.xy, self.xz),
            V::new(self.xy, self.yy, self.yz),
            V::new(self.xz, self.yz, self.zz),
        ]
    }
    #[inline(always)]
    pub(crate) fn scaled(self, f: N) -> Self {
        Self {
            xx: self.xx * f,
            xy: self.xy * f,
            xz: self.xz * f,
            yy: self.yy * f,
            yz: self.yz * f,
            zz: self.zz * f,
        }
    }
    /// Of a positive definite matrix.
    #[inline(always)]
    pub(crate) fn inverse(self) -> Self {
        let xx = self.yy * self.zz - self.yz * self.yz;
        let xy = self.xz * self.yz - self.xy * self.zz;
        let xz = self.xy * self.yz - self.xz * self.yy;
        let factor = xx.k(1.0) / (self.xx * xx + self.xy * xy + self.xz * xz);
        Self {
            xx,
            xy,
            xz,
            yy: self.xx * self.zz - self.xz * self.xz,
            yz: self.xy * self.xz - self.xx * self.yz,
            zz: self.xx * self.yy - self.xy * self.xy,
        }
        .scaled(factor)
    }
    /// `self - sum of a_k b_k^T`, which is symmetric.
    #[inline(always)]
    pub(crate) fn minus_products(self, a: &M<N>, b: &M<N>) -> Self {
        let mut out = self;
        for (a, b) in a.iter().zip(b) {
            let a = -*a;
            out.xx = out.xx.plus(a.x, b.x);
            out.xy = out.xy.plus(a.x, b.y);
            out.xz = out.xz.plus(a.x, b.z);
            out.yy = out.yy.plus(a.y, b.y);
            out.yz = out.yz.plus(a.y, b.z);
            out.zz = out.zz.plus(a.z, b.z);
        }
        out
    }
}

impl<N: Number> Add for Sym<N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self {
            xx: self.xx + o.xx,
            xy: self.xy + o.xy,
            xz: self.xz + o.xz,
            yy: self.yy + o.yy,
            yz: self.yz + o.yz,
            zz: self.zz + o.zz,
        }
    }
}

/// A rigid motion: rows of its rotation, and a translation.
#[derive(Clone, Copy)]
pub(crate) struct Motion<N> {
    pub(crate) rows: M<N>,
    pub(crate) translation: V<N>,
}

impl<N: Number> Motion<N> {
    /// None.
    #[inline(always)]
    pub(crate) fn still(like: N) -> Self {
        let (o, one) = (like.k(0.0), like.k(1.0));
        Self {
            rows: [V::new(one, o, o), V::new(o, one, o), V::new(o, o, one)],
            translation: V::zero(like),
        }
    }
    #[inline(always)]
    pub(crate) fn load(token: N::Token, s: &[[N::Stored; 3]; 4]) -> Self {
        Self {
            rows: [
                V::load(token, &s[0]),
                V::load(token, &s[1]),
                V::load(token, &s[2]),
            ],
            translation: V::load(token, &s[3]),
        }
    }
    #[inline(always)]
    pub(crate) fn vector(&self, v: V<N>) -> V<N> {
        rows_times(&self.rows, v)
    }
    #[inline(always)]
    pub(crate) fn point(&self, p: V<N>) -> V<N> {
        let [x, y, z] = self.rows;
        let t = self.translation;
        V::new(
            t.x.plus(x.x, p.x).plus(x.y, p.y).plus(x.z, p.z),
            t.y.plus(y.x, p.x).plus(y.y, p.y).plus(y.z, p.z),
            t.z.plus(z.x, p.x).plus(z.y, p.y).plus(z.z, p.z),
        )
    }
    /// The vector that [`Self::vector`] takes to `v`.
    #[inline(always)]
    pub(crate) fn back(&self, v: V<N>) -> V<N> {
        columns_times(&self.rows, v)
    }
}
