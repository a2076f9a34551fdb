//! Checks of strands, for all formats.

use crate::fault::warning;
use sinew_geom::vec3::distance;
use sinew_geom::{Mesh, Warning};

/// Segments shorter than this share of their strand's longest segment have no reliable direction.
const NO_SEGMENT: f64 = 1e-6;

/// Counts points that repeat the previous point. Ignores strands of zero length.
pub(crate) fn repeated_points(mesh: &Mesh) -> Option<Warning> {
    let strands = mesh.topology.strands()?;
    let (mut points, mut of_strands, mut first) = (0_usize, 0_usize, None);
    for (index, range) in strands.ranges().enumerate() {
        let Some(vertices) = mesh.positions.get(range) else {
            continue;
        };
        let lengths = vertices.windows(2);
        let lengths = lengths.map(|w| distance(w[0].map(f64::from), w[1].map(f64::from)));
        let lengths: Vec<f64> = lengths.collect();
        let longest = lengths.iter().fold(0.0, |most: f64, l| most.max(*l));
        let least = NO_SEGMENT * longest;
        let repeated = lengths.iter().filter(|l| **l <= least).count();
        if longest > 0.0 && repeated > 0 {
            points += repeated;
            of_strands += 1;
            first.get_or_insert(index);
        }
    }
    let first = first?;
    let (points, of_strands) = (
        counted(points, "point repeats", "points repeat"),
        counted(of_strands, "strand", "strands"),
    );
    let message = format!(
        "{points} the previous point in {of_strands} of '{}' (first: strand {first}); segments of zero length do not resist bending, and such strands hang lower; remove repeated points or resample the strands before you export them",
        mesh.name
    );
    Some(warning("points_repeated", message))
}

fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::{Strands, Topology};

    fn strands(points: &[&[f32]]) -> Mesh {
        let topology = Strands::new(points.iter().map(|p| p.len())).expect("strands");
        let positions = points.iter().flat_map(|p| p.iter().map(|y| [1.0, *y, 0.0]));
        Mesh::new(
            "hair",
            Topology::from_strands(topology),
            positions.collect(),
        )
    }

    #[test]
    fn repeated_points_are_counted_and_strands_without_length_are_not() {
        let odd = strands(&[
            &[0.0, 0.1, 0.2],
            &[0.0, 0.1, 0.1, 0.1],
            &[0.3, 0.3, 0.3],
            &[0.0, 0.0, 0.2],
        ]);
        let found = repeated_points(&odd).expect("odd");
        assert_eq!(found.code, "points_repeated");
        let text = "3 points repeat the previous point in 2 strands of 'hair' (first: strand 1);";
        assert!(found.message.starts_with(text), "{}", found.message);
        // Short segments are segments.
        assert_eq!(repeated_points(&strands(&[&[0.0, 1e-5, 0.2]])), None);
    }
}
