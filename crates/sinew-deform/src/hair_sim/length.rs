//! Lengths: one Newton step for all segments of a strand together.
//!
//! With `c_j = |x_j - x_(j-1)| - L_j` and segments' directions `e_j`, the corrections `w_j (lambda_(j+1) e_(j+1) - lambda_j e_j)`
//! take out what is linear in the stretch where
//!
//! ```text
//! (w_j + w_(j-1)) lambda_j - w_(j-1) (e_j . e_(j-1)) lambda_(j-1) - w_j (e_j . e_(j+1)) lambda_(j+1) = c_j
//! ```
//!
//! Three diagonals: one sweep up, one down, whatever the number of vertices. Sweeps over single segments, as TressFX'
//! system does them, need many passes before the root's pull reaches the tip.

use super::step::WorkVertex;
use crate::collide::unit_or;
use sinew_geom::{Real, Vec3};

/// No vertex is moved by more than this many segments' lengths; what is wrong beyond that the last pass puts right.
pub(super) const FARTHEST: f64 = 4.0;

/// Moves all vertices so that segments have their lengths, to first order.
pub(crate) fn restore_lengths<R: Real>(work: &mut [WorkVertex<R>]) {
    let n = work.len();
    let mut direction = Vec3::y();
    // Elimination: `diagonal` becomes the stretch still to be taken out, `next` the share of the following multiplier.
    let (mut factor, mut known) = (R::zero(), R::zero());
    for i in 1..n {
        let (a, b) = (&work[i - 1].contact, &work[i].contact);
        let segment = b.x - a.x;
        let length = segment.norm();
        let old = direction;
        direction = unit_or(segment, old);
        let (wa, wb) = (a.inverse_mass, b.inverse_mass);
        let coupling = -wa * direction.dot(&old);
        // The coupling was not known to the segment before.
        let ahead = coupling * factor;
        let pivot = (wa + wb - coupling * ahead).max(R::from_double(1e-6));
        let stretch = length - b.length;
        let held = wa + wb <= R::zero();
        known = if held {
            R::zero()
        } else {
            (stretch - coupling * known) / pivot
        };
        factor = if held { R::zero() } else { R::one() / pivot };
        let w = &mut work[i];
        w.right = direction;
        w.diagonal = known;
        w.next = ahead;
    }
    if let Some(root) = work.first_mut() {
        root.right = Vec3::zeros();
        root.diagonal = R::zero();
    }
    let (mut pull, mut ahead, mut last) = (Vec3::zeros(), R::zero(), R::zero());
    let mut longer = R::zero();
    for w in work.iter_mut().rev() {
        let multiplier = w.diagonal - ahead * last;
        let own = w.right * multiplier;
        let shift = (pull - own) * w.contact.inverse_mass;
        w.contact.x += kept_short(shift, w.contact.length.max(longer));
        longer = w.contact.length;
        pull = own;
        last = multiplier;
        ahead = w.next;
    }
}

fn kept_short<R: Real>(shift: Vec3<R>, length: R) -> Vec3<R> {
    let most = length * R::from_double(FARTHEST);
    let squared = shift.norm_squared();
    if squared > most * most && squared > R::zero() {
        shift * (most / squared.sqrt())
    } else {
        shift
    }
}
