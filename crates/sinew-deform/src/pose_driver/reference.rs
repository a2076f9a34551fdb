//! The truth: one query after the other, pose after pose.

use super::bind::{PoseDriverBind, total};
use super::definition::{Clamp, Normalize};
use super::metric::DriverValue;

/// Influence of each pose at a query.
pub(crate) fn influences(bind: &PoseDriverBind, values: &[DriverValue], out: &mut [f64]) {
    for (pose, out) in out.iter_mut().enumerate() {
        *out = bind.radials[pose].value(distance_to_pose(bind, values, pose));
    }
}

/// Distance of a query from a pose.
pub(crate) fn distance_to_pose(bind: &PoseDriverBind, values: &[DriverValue], pose: usize) -> f64 {
    let channel = &bind.channels[bind.channel_of_pose[pose]];
    let of_joint = |(joint, value): (usize, &DriverValue)| {
        let at = channel.metric.coordinates(value, &bind.axis);
        let of_pose = &bind.coordinates[joint * bind.pose_count + pose];
        channel.form.distance(&at, of_pose)
    };
    total(values.iter().enumerate().map(of_joint))
}

/// Weights from influences: `coefficients * influences`, or the influences themselves.
pub(crate) fn solved(bind: &PoseDriverBind, influences: &[f64], out: &mut [f64]) {
    let Some(system) = &bind.system else {
        out.copy_from_slice(influences);
        return;
    };
    out.fill(0.0);
    for (column, influence) in system.coefficients.column_iter().zip(influences) {
        for (out, c) in out.iter_mut().zip(column.iter()) {
            *out += c * influence;
        }
    }
}

/// What comes after solving: curves, limits, gains, sum, threshold.
pub(crate) fn finish(bind: &PoseDriverBind, values: &[DriverValue], weights: &mut [f64]) {
    for ((w, curve), gain) in weights.iter_mut().zip(&bind.curves).zip(gains(bind)) {
        *w = match bind.clamp {
            Clamp::None => *w,
            Clamp::Negative => w.max(0.0),
            Clamp::Unit => w.clamp(0.0, 1.0),
        };
        if let Some(curve) = curve {
            *w = curve.at(*w);
        }
        *w *= gain;
    }
    let sum = weights.iter().sum::<f64>();
    let factor = sum_factor(bind, values, sum);
    for w in weights {
        let scaled = *w * factor;
        *w = if scaled.abs() > bind.threshold {
            scaled
        } else {
            0.0
        };
    }
}

fn gains(bind: &PoseDriverBind) -> impl Iterator<Item = f64> {
    bind.gains.iter().copied().chain(std::iter::repeat(1.0))
}

/// What weights of that sum are multiplied by.
pub(crate) fn sum_factor(bind: &PoseDriverBind, values: &[DriverValue], sum: f64) -> f64 {
    let rule = &bind.sum;
    let divides = matches!(
        rule.mode,
        Normalize::Always | Normalize::WithinMedian { .. }
    );
    if sum <= rule.least && !rule.fades && (divides || rule.never_above_one) {
        return 0.0;
    }
    if sum > 1.0 && (rule.never_above_one || rule.mode == Normalize::AboveOne) {
        return 1.0 / sum;
    }
    let to_one = 1.0 / sum.max(rule.least).max(f64::MIN_POSITIVE);
    match rule.mode {
        Normalize::None | Normalize::AboveOne => 1.0,
        Normalize::Always => to_one,
        Normalize::WithinMedian { min, max, .. } => {
            let far = if sum > 1.0 { to_one } else { 1.0 };
            let part = median_part(bind, values, min, max);
            to_one + (far - to_one) * part
        }
    }
}

/// 0 near the median's reference, 1 far from it.
fn median_part(bind: &PoseDriverBind, values: &[DriverValue], min: f64, max: f64) -> f64 {
    let metric = bind.median_metric;
    let of_joint = |(value, median): (&DriverValue, &super::metric::Coordinates)| {
        metric
            .form()
            .distance(&metric.coordinates(value, &bind.axis), median)
    };
    let distance = total(values.iter().zip(&bind.median).map(of_joint));
    if distance <= min {
        0.0
    } else if distance > max {
        1.0
    } else {
        (distance - min) / (max - min)
    }
}

/// All of it. `influences` and `weights` have one element a pose.
pub(crate) fn weights(
    bind: &PoseDriverBind,
    values: &[DriverValue],
    influences_out: &mut [f64],
    weights: &mut [f64],
) {
    influences(bind, values, influences_out);
    solved(bind, influences_out, weights);
    finish(bind, values, weights);
}
