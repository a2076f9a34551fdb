//! Numbers and names as people say them.

pub(super) use crate::reporter::counted;
use serde::Serialize;
use sinew::bake::vat::Mode;

/// What a carrier is made of: `1130 triangles`, of particles `12 quads` of two triangles each.
pub(super) fn carrier_words(mode: Mode, triangles: u32) -> String {
    match mode {
        Mode::Particles => counted(triangles / 2, "quad"),
        _ => counted(triangles, "triangle"),
    }
}

/// The name of a mode, a format or the like, as it stands in files.
pub(super) fn name_of(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        other => other.map_or_else(|e| e.to_string(), |v| v.to_string()),
    }
}

/// `0.4 %`; what is there and would be called nothing is `under 0.1 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent > 0.0 && percent < 0.05 {
        true => "under 0.1 %".into(),
        false => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::vat::texel::TexelFormat;

    #[test]
    fn numbers_and_names_read_well() {
        assert_eq!(counted(1_u32, "frame"), "1 frame");
        assert_eq!(counted(0_u32, "frame"), "0 frames");
        assert_eq!(name_of(&Mode::Remesh), "remesh");
        assert_eq!(carrier_words(Mode::Particles, 24), "12 quads");
        assert_eq!(carrier_words(Mode::Soft, 1), "1 triangle");
        assert_eq!(name_of(&TexelFormat::TwoUnorm8), "two_unorm8");
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!(percent(4e-4), "under 0.1 %");
        assert_eq!(percent(5e-4), "0.1 %");
        assert_eq!(percent(0.125), "12.5 %");
    }
}
