use super::super::device::{GridAxis, grid, write_offsets};
use super::*;

const OUTSIDE: [Outside; 5] = [
    Outside::None,
    Outside::Clamp,
    Outside::Falloff,
    Outside::Extrapolate,
    Outside::Natural,
];

fn lattices() -> impl Iterator<Item = LatticeBind> {
    let resolutions = [[2, 3, 4], [5, 1, 2], [7, 6, 5]];
    ALL.into_iter().flat_map(move |interpolation| {
        OUTSIDE.into_iter().flat_map(move |outside| {
            [Border::Clamp, Border::Extrapolate]
                .into_iter()
                .flat_map(move |border| {
                    resolutions.map(|resolution| {
                        bound(LatticeConfig {
                            outside,
                            border,
                            influence: [5, 3, 4],
                            ..config(interpolation, resolution)
                        })
                    })
                })
        })
    })
}

#[test]
fn every_tap_of_the_kernel_lies_in_its_grid() {
    for bind in lattices() {
        for GridAxis {
            rule,
            taps,
            shift,
            len,
            last_cell,
            base,
            ..
        } in grid(&bind)
        {
            let first = (rule.low + shift).floor().min(last_cell) + base;
            let last = last_cell + base + taps as f64;
            assert!(
                first >= 0.0 && last <= len as f64,
                "{:?}: {first} {last} of {len}",
                bind.config
            );
        }
    }
}

/// Where borders are extrapolated, points that stand in continue an affine move; where they are clamped, they
/// repeat the border; the points of the grid are as given.
#[test]
fn stand_ins_follow_the_border_rule() {
    let offset = |i: [f64; 3]| [0.1 * i[0] - 0.2 * i[1], 0.3 * i[2], 1.0 - 0.5 * i[0]];
    for bind in lattices() {
        let bind = bound(LatticeConfig {
            points_in_world: true,
            points_are_offsets: true,
            ..bind.config
        });
        let axes = grid(&bind);
        let [nx, ny, nz] = bind.resolution;
        let at = |i: usize| [i % nx, i / nx % ny, i / (nx * ny)].map(|c| c as f64);
        let points: Vec<[f64; 3]> = (0..nx * ny * nz).map(|i| offset(at(i))).collect();
        let mut out = vec![[f32::NAN; 3]; axes.iter().map(|a| a.len).product()];
        write_offsets(&bind, &box_transform(), &points, None, &mut out);
        let [x, y, _] = axes;
        for (i, got) in out.iter().enumerate() {
            let place = [i % x.len, i / x.len % y.len, i / (x.len * y.len)];
            let mut ring = false;
            let index: [f64; 3] = std::array::from_fn(|a| {
                let at = place[a] as f64 - (axes[a].before + axes[a].ring()) as f64;
                let last = bind.resolution[a] as f64 - 1.0;
                ring |= axes[a].ring() > 0 && !(0.0..=last).contains(&at);
                match bind.config.border {
                    Border::Clamp => at.clamp(0.0, last),
                    Border::Extrapolate => at,
                }
            });
            let expected = if ring { [0.0; 3] } else { offset(index) };
            assert!(
                distance(Vec3::from(expected), *got) < 1e-6,
                "{:?} at {place:?}: {got:?}, expected {expected:?}",
                bind.config
            );
        }
    }
}
