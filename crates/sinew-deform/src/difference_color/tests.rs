use super::*;

#[test]
fn colour_is_the_absolute_difference_and_alpha_its_length() {
    let mut colors = [[9.0; 4]; 2];
    DifferenceColorJob {
        scale: 0.5,
        positions: &[[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]],
        reference: &[[0.4, 2.8, 3.0], [11.0, 1.0, 1.0]],
        colors: &mut colors,
        par: Par::Seq,
    }
    .run();
    for (got, expected) in colors[0].iter().zip([0.3, 0.4, 0.0, 0.5]) {
        assert!((got - expected).abs() < 1e-6, "{colors:?}");
    }
    assert_eq!(colors[1], [1.0, 0.0, 0.0, 1.0], "saturates");
}
