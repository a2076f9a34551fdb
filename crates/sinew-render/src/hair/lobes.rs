//! Light that one hair scatters: the far-field lobes of Marschner et al., *Light Scattering from Human Hair Fibers*, 2003, in the
//! approximation of B. Karis, *Physically Based Hair Shading in Unreal*, SIGGRAPH 2016.
//!
//! | lobe | path of the light | factors |
//! |---|---|---|
//! | R | reflected at the surface | highlight in the colour of the light, shifted towards the root |
//! | TT | through the hair | light from behind, in the colour of the hair |
//! | TRT | reflected inside | second highlight in the colour of the hair, shifted towards the tip |
//!
//! Each lobe is a Gaussian along the hair times a function of the angle around it. Both integrate to one or less over all directions.
//! With Fresnel's factors the sum is one or less: no hair sends out more light than it receives.

use super::V;
use std::f32::consts::TAU;

/// Refractive index of keratin: reflection of light that meets the surface at a right angle.
const FACING: f32 = 0.046_5;
/// Tilt of the scales of a hair, in sines: the shift of R, TT and TRT is -2, 1 and 4 times this.
const TILT: f32 = 0.035;
/// Width of the Gaussians of R, TT and TRT, in sines.
const WIDTHS: [f32; 3] = [0.08, 0.06, 0.16];

/// Directions of light and eye relative to a hair.
#[derive(Clone, Copy, Debug)]
struct Angles {
    /// Sum of the sines of both inclinations.
    sines: f32,
    /// Cosine of half the difference of both inclinations.
    half: f32,
    /// Cosine of the angle between both around the hair.
    around: f32,
    /// Cosine of the angle between both.
    between: f32,
}

impl Angles {
    fn new(along: V, light: V, eye: V) -> Self {
        let [of_light, of_eye] = [light, eye].map(|d| along.dot(&d).clamp(-1.0, 1.0));
        let across = (light - along * of_light).dot(&(eye - along * of_eye));
        let lengths = ((1.0 - of_light * of_light) * (1.0 - of_eye * of_eye)).max(1e-8);
        let cosines = lengths.sqrt();
        // cos(a - b), of which the cosine of half the angle.
        let difference = (cosines + of_light * of_eye).clamp(-1.0, 1.0);
        Self {
            sines: of_light + of_eye,
            half: (0.5 + 0.5 * difference).sqrt().max(0.05),
            around: (across / cosines).clamp(-1.0, 1.0),
            between: light.dot(&eye).clamp(-1.0, 1.0),
        }
    }
}

/// Share of the light from `light` that a hair scatters towards `eye`, per steradian and colour. The cosine of the inclination is in it.
///
/// `along` points to the tip; all directions are unit vectors. `color` is from 0 to 1: what is left of light that crossed the hair twice.
/// `tilt` moves the highlights along the hair, as a fraction of the tilt of the scales.
pub(super) fn scattered(color: [f32; 3], along: V, light: V, eye: V, tilt: f32) -> [f32; 3] {
    let angles = Angles::new(along, light, eye);
    let gauss = |lobe: usize, shift: f32| {
        let x = (angles.sines - shift * TILT * (1.0 + tilt)) / WIDTHS[lobe];
        (-0.5 * x * x).exp() / (TAU.sqrt() * WIDTHS[lobe])
    };
    let half_around = (0.5 + 0.5 * angles.around).sqrt();
    let reflected =
        gauss(0, -2.0) * 0.25 * half_around * fresnel((0.5 + 0.5 * angles.between).sqrt());
    // The paper has 3.98 here, with which hair without colour would send out up to 7 % more than it receives.
    let through = gauss(1, 1.0) * (-3.65 * angles.around - 4.10).exp();
    let inside = gauss(2, 4.0) * (17.0 * angles.around - 16.78).exp();
    // Light through the hair: how far off the middle it enters, and how far it goes inside.
    let bent = 1.0 / (1.19 / angles.half + 0.36 * angles.half);
    let off = (half_around * (1.0 + bent * (0.6 - 0.8 * angles.around))).clamp(0.0, 1.0);
    let lost = fresnel(angles.half * (1.0 - off * off).sqrt());
    let way = 0.5 * (1.0 - (off * bent).powi(2)).sqrt() / angles.half;
    let lost_inside = fresnel(angles.half * 0.5);
    let through = through * (1.0 - lost).powi(2);
    let inside = inside * (1.0 - lost_inside).powi(2) * lost_inside;
    color.map(|c| {
        let c = c.clamp(0.0, 1.0);
        reflected + through * c.powf(way) + inside * c.powf(0.8 / angles.half)
    })
}

/// Schlick's approximation of the reflected share.
fn fresnel(cosine: f32) -> f32 {
    FACING + (1.0 - FACING) * (1.0 - cosine).clamp(0.0, 1.0).powi(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direction(sine: f32, around: f32) -> V {
        let cosine = (1.0 - sine * sine).max(0.0).sqrt();
        V::new(sine, cosine * around.cos(), cosine * around.sin())
    }

    /// The integral over the sphere: solid angle is the sine along the hair times the angle around it.
    fn integral(color: f32, light: V) -> f32 {
        let (rows, columns) = (400, 360);
        let mut sum = 0.0_f64;
        for row in 0..rows {
            let sine = -1.0 + 2.0 * (row as f32 + 0.5) / rows as f32;
            for column in 0..columns {
                let eye = direction(sine, TAU * (column as f32 + 0.5) / columns as f32);
                sum += f64::from(scattered([color; 3], V::x(), light, eye, 0.0)[1]);
            }
        }
        (sum * 4.0 * std::f64::consts::PI / f64::from(rows * columns)) as f32
    }

    #[test]
    fn no_hair_sends_out_more_light_than_it_receives() {
        for sine in [-0.99, -0.7, 0.0, 0.3, 0.8] {
            let light = direction(sine, 0.4);
            let [clear, brown, black] = [1.0, 0.3, 0.0].map(|c| integral(c, light));
            assert!(clear <= 1.0 && clear > 0.35, "{clear} at {sine}");
            assert!(brown < clear && black < brown, "{brown} {black} at {sine}");
        }
        // Across, a hair without colour keeps nearly all light.
        let clear = integral(1.0, direction(0.0, 0.0));
        assert!(clear > 0.85, "{clear}");
    }

    #[test]
    fn light_and_eye_are_exchangeable_and_both_sides_alike() {
        for i in 0..200_u8 {
            let t = f32::from(i);
            let along = direction((t * 0.37).sin(), t);
            let [light, eye] = [
                direction((t * 0.71).cos(), 2.0 * t),
                direction((t * 0.53).sin(), 3.0 * t),
            ];
            let color = [0.8, 0.4, 0.1];
            let there = scattered(color, along, light, eye, 0.3);
            let back = scattered(color, along, eye, light, 0.3);
            // The mirror image in the plane of hair and light.
            let normal = along.cross(&light).normalize();
            let mirrored = eye - normal * (2.0 * normal.dot(&eye));
            let mirrored = scattered(color, along, light, mirrored, 0.3);
            for c in 0..3 {
                let scale = 1e-3 * (there[c] + 1e-3);
                assert!((there[c] - back[c]).abs() < scale, "{there:?} {back:?}");
                assert!(
                    (there[c] - mirrored[c]).abs() < 5.0 * scale,
                    "{there:?} {mirrored:?}"
                );
            }
        }
    }

    #[test]
    fn highlights_shift_as_scales_tilt() {
        // Light straight from the side: R is brightest where the sine is -2 tilts, TRT of blond hair where it is +4.
        let brightest = |color: f32, of: fn([f32; 3]) -> f32| {
            let at = |i: i32| direction(f32::from(i as i16) / 1000.0, 0.0);
            let value = |i: &i32| {
                of(scattered(
                    [color, 0.0, 0.0],
                    V::x(),
                    direction(0.0, 0.0),
                    at(*i),
                    0.0,
                ))
            };
            (-400..400)
                .max_by(|a, b| value(a).total_cmp(&value(b)))
                .expect("some")
        };
        let reflected = brightest(0.0, |c| c[0]);
        assert!((reflected + 70).abs() <= 3, "{reflected}");
        let inside = brightest(1.0, |c| c[0] - c[1]);
        assert!((inside - 140).abs() <= 20, "{inside}");
    }

    #[test]
    fn numbers_are_finite_everywhere() {
        let all = [-1.0, -0.5, 0.0, 0.999_999, 1.0].map(|s| direction(s, 0.0));
        for (light, eye) in all.iter().flat_map(|l| all.iter().map(move |e| (*l, *e))) {
            for out in scattered([0.0, 0.5, 1.0], V::x(), light, eye, 1.0) {
                assert!(out.is_finite() && out >= 0.0, "{out}");
            }
        }
    }
}
