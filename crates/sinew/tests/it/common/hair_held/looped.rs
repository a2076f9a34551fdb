//! A clip that goes on for as long as is wanted, and then holds still.

use sinew::geom::{Asset, Channel, ChannelTarget, Clip, Interpolation, Trs};

/// Keys a second, those of the clip.
const KEYS: f64 = 30.0;

/// Replaces a clip of turns by itself, again and again for so many seconds; its last key is held from there on. What it would show a key after its last is taken for
/// its first key, as in clips of cycles.
pub(crate) fn loop_clip(asset: &mut Asset, name: &str, secs: f64) {
    let clip = asset.clips.iter_mut().find(|c| c.name == name);
    let clip = clip.expect("a clip of that name");
    let period = f64::from(clip.range().1) + 1.0 / KEYS;
    let count = (secs * KEYS) as u32;
    let times: Vec<f64> = (0..=count).map(|k| f64::from(k) / KEYS).collect();
    let channels = clip.channels().iter().map(|c| {
        assert_eq!(c.target, ChannelTarget::Rotation, "a clip of turns");
        let value = |t: &f64| {
            let mut trs = Trs::default();
            c.sample_trs(t % period, &mut trs);
            let q = trs.rotation;
            [q.i, q.j, q.k, q.w].map(|c| c as f32)
        };
        let values = times.iter().flat_map(value).collect();
        let times = times.iter().map(|t| *t as f32).collect();
        Channel::new(c.node, c.target, Interpolation::Linear, times, values, 4).expect("valid")
    });
    *clip = Clip::new(name, channels.collect());
}

#[test]
fn a_loop_goes_on_and_then_holds() {
    let mut asset = sinew_samples::head().expect("a sample");
    let name = "shake";
    let clip = |asset: &Asset| asset.find_clip(Some(name)).expect("there").clone();
    let before = clip(&asset);
    let period = f64::from(before.range().1) + 1.0 / KEYS;
    loop_clip(&mut asset, name, 2.5 * period);
    let after = clip(&asset);
    let pose = |clip: &Clip, time: f64| {
        let mut trs = Trs::default();
        clip.channels()[0].sample_trs(time, &mut trs);
        trs.rotation.coords
    };
    let apart = |a: f64, b: f64| (pose(&after, a) - pose(&before, b)).norm();
    assert!(apart(period + 0.2, 0.2) < 0.02 && apart(2.0 * period + 0.1, 0.1) < 0.02);
    let end = f64::from(after.range().1);
    assert!((end - 2.5 * period).abs() < 1.1 / KEYS, "{end}");
    assert_eq!(pose(&after, end), pose(&after, end + 5.0));
}
