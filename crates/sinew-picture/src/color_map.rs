//! Numbers as colours.

/// Colours for numbers between 0 and 1.
///
/// Except for [`Self::Turbo`], brightness changes evenly with the number, which also works in grey.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColorMap {
    /// Dark violet over green to yellow.
    #[default]
    Viridis,
    /// Black over purple to pale yellow.
    Magma,
    /// Black over red to pale yellow.
    Inferno,
    /// Blue over red to yellow.
    Plasma,
    /// Blue to yellow, the same to eyes that do not tell red from green.
    Cividis,
    /// All colours of the rainbow: shows details, but with uneven steps.
    Turbo,
    /// White to black.
    Greys,
    /// Diverging: blue for low over near-white to red for high. For numbers around zero.
    RedBlue,
    /// Diverging: green for low over near-white to purple for high.
    PurpleGreen,
}

impl ColorMap {
    /// Every map.
    pub const ALL: [Self; 9] = [
        Self::Viridis,
        Self::Magma,
        Self::Inferno,
        Self::Plasma,
        Self::Cividis,
        Self::Turbo,
        Self::Greys,
        Self::RedBlue,
        Self::PurpleGreen,
    ];

    /// The colour of NaN: a middle grey.
    pub const NOT_A_NUMBER: [u8; 3] = [128; 3];

    /// Its name in documents and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Viridis => "viridis",
            Self::Magma => "magma",
            Self::Inferno => "inferno",
            Self::Plasma => "plasma",
            Self::Cividis => "cividis",
            Self::Turbo => "turbo",
            Self::Greys => "greys",
            Self::RedBlue => "red_blue",
            Self::PurpleGreen => "purple_green",
        }
    }

    /// The map of that name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|map| map.name() == name)
    }

    /// Whether the middle is near-white and stands for zero, with a colour for each side.
    pub fn is_diverging(self) -> bool {
        matches!(self, Self::RedBlue | Self::PurpleGreen)
    }

    /// The sRGB colour of `t`, which is limited to 0 to 1. NaN gives [`Self::NOT_A_NUMBER`].
    pub(crate) fn color(self, t: f32) -> [u8; 3] {
        if t.is_nan() {
            return Self::NOT_A_NUMBER;
        }
        let t = f64::from(t.clamp(0.0, 1.0));
        // The names of diverging schemes say their low end first; here red and purple are high.
        let (gradient, t) = match self {
            Self::Viridis => (colorous::VIRIDIS, t),
            Self::Magma => (colorous::MAGMA, t),
            Self::Inferno => (colorous::INFERNO, t),
            Self::Plasma => (colorous::PLASMA, t),
            Self::Cividis => (colorous::CIVIDIS, t),
            Self::Turbo => (colorous::TURBO, t),
            Self::Greys => (colorous::GREYS, t),
            Self::RedBlue => (colorous::RED_BLUE, 1.0 - t),
            Self::PurpleGreen => (colorous::PURPLE_GREEN, 1.0 - t),
        };
        gradient.eval_continuous(t).as_array()
    }

    /// 256 colours at equal distances, from `t` = 0 to `t` = 1: for textures and GPUs.
    pub fn table(self) -> [[u8; 3]; 256] {
        std::array::from_fn(|step| self.color(step as f32 / 255.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Perceived brightness, roughly: luma of the encoded colour.
    fn luma([r, g, b]: [u8; 3]) -> f32 {
        0.299 * f32::from(r) + 0.587 * f32::from(g) + 0.114 * f32::from(b)
    }

    #[test]
    fn names_lead_back() {
        for map in ColorMap::ALL {
            assert_eq!(ColorMap::from_name(map.name()), Some(map));
        }
        assert_eq!(ColorMap::from_name("jet"), None);
    }

    #[test]
    fn published_colours() {
        assert_eq!(ColorMap::Viridis.color(0.0), [0x44, 0x01, 0x54]);
        assert_eq!(ColorMap::Viridis.color(1.0), [0xfd, 0xe7, 0x25]);
        assert_eq!(ColorMap::Magma.color(0.0), [0x00, 0x00, 0x04]);
        assert_eq!(ColorMap::Plasma.color(1.0), [0xf0, 0xf9, 0x21]);
    }

    #[test]
    fn what_is_outside_has_the_colour_of_the_end() {
        for map in ColorMap::ALL {
            assert_eq!(map.color(f32::NEG_INFINITY), map.color(0.0));
            assert_eq!(map.color(-0.1), map.color(0.0));
            assert_eq!(map.color(f32::INFINITY), map.color(1.0));
            assert_eq!(map.color(f32::NAN), ColorMap::NOT_A_NUMBER);
            let table = map.table();
            assert_eq!([table[0], table[255]], [map.color(0.0), map.color(1.0)]);
        }
    }

    #[test]
    fn sequential_maps_go_one_way() {
        let even = |map: &ColorMap| !map.is_diverging() && *map != ColorMap::Turbo;
        for map in ColorMap::ALL.into_iter().filter(even) {
            let table = map.table().map(luma);
            let rising = table[255] > table[0];
            let back = |pair: &[f32]| {
                if rising {
                    pair[0] - pair[1]
                } else {
                    pair[1] - pair[0]
                }
            };
            let worst = table.windows(2).map(back).fold(0.0, f32::max);
            assert!(worst < 1.5, "{map:?} {worst}");
        }
    }

    #[test]
    fn diverging_maps_are_brightest_in_the_middle() {
        let [low, high] = [0.05, 0.95].map(|t| ColorMap::RedBlue.color(t));
        assert!(
            low[2] > low[0] && high[0] > high[2],
            "blue is low, red is high"
        );
        for map in ColorMap::ALL.into_iter().filter(|map| map.is_diverging()) {
            assert!(map.color(0.5).iter().all(|&c| c >= 235), "{map:?}");
            let [left, right] = [0.1, 0.9].map(|t| luma(map.color(t)));
            assert!((left - right).abs() < 40.0, "{map:?} {left} {right}");
            assert!(luma(map.color(0.5)) > left.max(right) + 60.0, "{map:?}");
        }
    }

    #[test]
    fn neighbours_are_alike() {
        for map in ColorMap::ALL {
            for pair in map.table().windows(2) {
                let step = (0..3).map(|k| pair[0][k].abs_diff(pair[1][k])).max();
                assert!(step <= Some(12), "{map:?} {pair:?}");
            }
        }
    }
}
