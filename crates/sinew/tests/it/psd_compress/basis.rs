//! The mathematics.

use super::{basis_of, dense, noisy, options, target};
use sinew::geom::{MorphTarget, Vec3};
use sinew::psd::Basis;

/// Distances of each vertex from a target, by the formula: what the components times their coefficients give.
fn missing(basis: &Basis, targets: &[MorphTarget], t: usize, count: usize) -> Vec<f64> {
    let mut out = dense(&targets[t], count);
    for (component, row) in basis.targets.iter().zip(&basis.coefficients) {
        for (out, d) in out.iter_mut().zip(dense(component, count)) {
            *out -= d * f64::from(row[t]);
        }
    }
    out.iter().map(Vec3::norm).collect()
}

fn largest(basis: &Basis, targets: &[MorphTarget], count: usize) -> f64 {
    let all = (0..targets.len()).flat_map(|t| missing(basis, targets, t, count));
    all.fold(0.0, f64::max)
}

const POINTS: usize = 400;
const MIXED: usize = 12;

/// Three shapes at right angles to each other (each moves along an axis of its own), up to two centimetres.
fn shape(k: usize, v: usize) -> [f64; 3] {
    let t = v as f64 / POINTS as f64;
    let mut out = [0.0; 3];
    out[k] = [
        0.02 * (7.0 * t).sin(),
        0.01 * (1.0 - t) * t,
        0.005 * (11.0 * t).cos(),
    ][k];
    out
}

/// Columns of unit length at right angles: cosines of whole numbers of turns.
fn share(k: usize, t: usize) -> f64 {
    let turn = std::f64::consts::TAU * t as f64 * (k + 1) as f64 / MIXED as f64;
    turn.cos() * (2.0 / MIXED as f64).sqrt()
}

fn mixtures() -> Vec<MorphTarget> {
    let mixed = |t: usize, v: usize| {
        let shapes = (0..3).map(|k| shape(k, v).map(|c| c * share(k, t)));
        shapes.fold([0.0; 3], |a, b| std::array::from_fn(|c| a[c] + b[c]))
    };
    (0..MIXED)
        .map(|t| target((0..POINTS).map(|v| mixed(t, v)).collect()))
        .collect()
}

/// Twelve mixtures of three shapes are three components: singular values are the lengths of the shapes, coefficients their shares.
#[test]
fn row_158_mixtures_of_three_shapes_are_three_components() {
    let targets = mixtures();
    let mut lengths: Vec<(f64, usize)> = (0..3)
        .map(|k| {
            let squares = (0..POINTS).flat_map(|v| shape(k, v)).map(|c| c * c);
            (squares.sum::<f64>().sqrt(), k)
        })
        .collect();
    lengths.sort_by(|a, b| b.0.total_cmp(&a.0));
    for tolerance in [1e-6, 1e-8, 0.0] {
        let basis = basis_of(&targets, &options(tolerance));
        let report = &basis.report;
        assert_eq!(basis.targets.len(), 3, "{tolerance}: {report:?}");
        assert_eq!(report.rank, 3, "{report:?}");
        assert_eq!(report.singular_values.len(), MIXED);
        for (i, (length, k)) in lengths.iter().enumerate() {
            let value = report.singular_values[i];
            assert!((value / length - 1.0).abs() < 1e-7, "{value}, {length}");
            let side = f64::from(basis.coefficients[i][0]).signum() * share(*k, 0).signum();
            for t in 0..MIXED {
                let found = f64::from(basis.coefficients[i][t]) * side;
                assert!((found - share(*k, t)).abs() < 1e-6, "{i}, {t}: {found}");
            }
        }
        let found = largest(&basis, &targets, POINTS);
        assert!(found <= tolerance.max(5e-9), "{tolerance}: {found}");
        assert!((found - report.error.largest).abs() < 1e-15, "{found}");
        assert_eq!(report.reached, found <= tolerance);
    }
    // Larger than the third shape, smaller than the second.
    let basis = basis_of(&targets, &options(0.003));
    assert!(basis.targets.len() < 3 && !basis.targets.is_empty());
    assert!(largest(&basis, &targets, POINTS) <= 0.003);
}

/// Eckart and Young: what is left of the matrix has the length of the singular values that are left out, and no other basis
/// of so many does better.
#[test]
fn what_is_left_are_the_dropped_singular_values() {
    let (count, vertices) = (10, 120);
    let targets = noisy(count, vertices);
    for components in [1, 4, 9] {
        let mut options = options(0.0);
        options.components = Some(components);
        options.drop_share = 0.0;
        let basis = basis_of(&targets, &options);
        assert_eq!(basis.targets.len(), components);
        assert!(!basis.report.reached);
        let dropped = basis.report.singular_values[components..].iter();
        let dropped: f64 = dropped.map(|s| s * s).sum();
        let expected = (dropped / (count * vertices) as f64).sqrt();
        let squares = (0..count).flat_map(|t| missing(&basis, &targets, t, vertices));
        let rms = (squares.map(|d| d * d).sum::<f64>() / (count * vertices) as f64).sqrt();
        assert!((rms / expected - 1.0).abs() < 1e-6, "{rms}, {expected}");
        assert!((basis.report.error.rms / expected - 1.0).abs() < 1e-6);
    }
    // Short offsets add what they are, and no vertex leaves the tolerance for it.
    let tolerance = 2e-3;
    let mut options = options(tolerance);
    options.drop_share = 0.5;
    let basis = basis_of(&targets, &options);
    let report = &basis.report;
    assert!(report.dropped > 0 && report.reached, "{report:?}");
    assert!(largest(&basis, &targets, vertices) <= tolerance);
    let left: f64 = report.singular_values[basis.targets.len()..]
        .iter()
        .map(|s| s * s)
        .sum();
    let left = (left / (count * vertices) as f64).sqrt();
    let most = left + options.drop_share * tolerance * (basis.targets.len() as f64).sqrt();
    assert!(
        (left..=most).contains(&report.error.rms),
        "{left} {report:?}"
    );
}

/// One component fewer does not keep the tolerance.
#[test]
fn no_component_is_too_many() {
    let targets = noisy(10, 120);
    for tolerance in [5e-3, 1e-3, 1e-4] {
        let basis = basis_of(&targets, &options(tolerance));
        assert!(basis.report.reached && basis.targets.len() > 1);
        let mut fewer = options(tolerance);
        fewer.components = Some(basis.targets.len() - 1);
        fewer.drop_share = 0.0;
        let fewer = basis_of(&targets, &fewer);
        assert!(fewer.report.error.largest > tolerance, "{tolerance}");
    }
}

#[test]
fn odd_lists_of_targets() {
    let one = noisy(1, 40);
    let zero = MorphTarget::default();
    let kept = |targets: &[MorphTarget], tolerance| {
        let basis = basis_of(targets, &options(tolerance));
        let found = largest(&basis, targets, 40);
        assert!(found <= f64::max(tolerance, 1e-8), "{found}, {tolerance}");
        basis.targets.len()
    };
    assert_eq!(kept(&one, 1e-6), 1);
    assert_eq!(kept(&[one[0].clone(), one[0].clone()], 1e-6), 1);
    assert_eq!(kept(&[zero.clone(), one[0].clone(), zero.clone()], 0.0), 1);
    assert_eq!(kept(&[zero.clone(), zero], 0.0), 0);
    assert_eq!(kept(&noisy(6, 40), 0.0), 6, "all of them");
    assert_eq!(kept(&noisy(6, 40), 1.0), 0, "nothing is that long");
    assert_eq!(kept(&[], 1e-4), 0);
    // Fewer rows than columns.
    assert_eq!(kept(&noisy(8, 2), 1e-7), 6);
}

/// Deltas of normals go with the same coefficients: those are the least squares, since coefficients are at right angles.
#[test]
fn normals_are_mixed_with_the_same_coefficients() {
    let mut targets = mixtures();
    let truth = |t: usize, v: u32| {
        let d = shape(0, v as usize).map(|c| c * 20.0 * share(0, t));
        [d[1], d[0], d[2]].map(|c| c as f32)
    };
    for (t, target) in targets.iter_mut().enumerate() {
        target.normals = target.vertices.iter().map(|&v| truth(t, v)).collect();
    }
    let basis = basis_of(&targets, &options(1e-6));
    let error = basis.report.normal_error.expect("normals");
    assert!(
        error.largest < 1e-6 && basis.targets.len() == 3,
        "{error:?}"
    );
    for t in 0..MIXED {
        let mut sums = vec![Vec3::zeros(); POINTS];
        for (component, row) in basis.targets.iter().zip(&basis.coefficients) {
            assert_eq!(component.normals.len(), component.vertices.len());
            for (&v, n) in component.vertices.iter().zip(&component.normals) {
                sums[v as usize] += Vec3::from(n.map(f64::from)) * f64::from(row[t]);
            }
        }
        for (v, found) in sums.iter().enumerate() {
            let expected = Vec3::from(truth(t, v as u32).map(f64::from));
            assert!((found - expected).norm() < 2e-6, "{t}, {v}: {found}");
        }
    }
}
