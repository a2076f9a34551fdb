//! How to fit.

use super::SkinError;

/// Where weights come from.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum WeightMethod {
    /// Those that show the samples best.
    #[default]
    Fitted,
    /// Rows that another method gives, a joint and a weight each, one row a vertex; cut to the most influences there may be. Linear skinning
    /// with smoothed weights (variant 5 of direct delta mush) is such a method.
    Given(sinew_geom::Influences),
}

/// How to fit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SkinSettings {
    /// Where weights come from.
    pub method: WeightMethod,
    /// Joints of a vertex, at most.
    pub influences: usize,
    /// Further joints that move by themselves, at most.
    pub helpers: usize,
    /// How far a joint must move a vertex that it has wholly, as a share of the character's size, for the samples to count as much as the authored
    /// weights do; the less of a vertex a joint has, the farther.
    pub hold: f64,
    /// Joints that a vertex may get beside its authored ones: the strongest of its neighbourhood.
    pub candidates: usize,
    /// Rounds of helpers and weights in turn, at most.
    pub rounds: usize,
}

impl Default for SkinSettings {
    fn default() -> Self {
        Self {
            method: WeightMethod::Fitted,
            influences: 4,
            helpers: 0,
            hold: 2e-3,
            candidates: 10,
            rounds: 8,
        }
    }
}

/// More than any format or shader has.
const MOST_INFLUENCES: usize = 32;
/// More than this many take hours.
const MOST_HELPERS: usize = 256;
/// More than this many take hours, too: a system of that size is solved for every sample.
const MOST_CORRECTIVES: usize = 256;

/// Whether so many morph targets can be asked for.
///
/// # Errors
/// [`SkinError::Setting`] above 256.
pub fn check_correctives(count: usize) -> Result<(), SkinError> {
    match count <= MOST_CORRECTIVES {
        true => Ok(()),
        false => Err(SkinError::Setting {
            setting: "correctives",
            found: count.to_string(),
            expected: "0 to 256",
        }),
    }
}

impl SkinSettings {
    /// # Errors
    /// [`SkinError::Setting`] names the first that makes no sense.
    pub fn check(&self) -> Result<(), SkinError> {
        let wrong = |setting, found: String, expected| {
            Err(SkinError::Setting {
                setting,
                found,
                expected,
            })
        };
        if !(1..=MOST_INFLUENCES).contains(&self.influences) {
            return wrong("influences", self.influences.to_string(), "1 to 32");
        }
        if self.helpers > MOST_HELPERS {
            return wrong("helpers", self.helpers.to_string(), "0 to 256");
        }
        if !(self.hold.is_finite() && self.hold > 0.0) {
            return wrong("hold", self.hold.to_string(), "a share above 0");
        }
        Ok(())
    }
}
