//! Followers beside the guides of strands.

use crate::deform::hair_sim::{FollowerSettings, FollowersError, RootSkin, place_followers};
use crate::geom::{Attribute, Mesh, Topology};
use crate::graph::Followers;
use std::sync::Arc;

/// The guides of a mesh of strands with followers beside them, on the skin where that is known; each has what its guide has.
pub(super) fn with_followers(
    mesh: &Mesh,
    followers: &Followers,
    skin: Option<&RootSkin>,
) -> Result<Mesh, FollowersError> {
    let Some(strands) = mesh.topology.strands() else {
        return Ok(mesh.clone());
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "positions have single precision"
    )]
    let settings = FollowerSettings {
        per_guide: followers.count,
        radius: followers.radius as f32,
        tip_separation: followers.tip_separation as f32,
        seed: followers.seed,
    };
    let (all, positions) = place_followers(strands, &mesh.positions, &settings, skin)?;
    // Each guide stands before its followers, which have as many vertices.
    let each = followers.count + 1;
    let guides = strands.guide_strands().map(|s| strands.range(s));
    let from: Vec<usize> = guides
        .flat_map(|r| std::iter::repeat_n(r, each).flatten())
        .collect();
    let attribute = |a: &Attribute| match a {
        Attribute::Scalar(v) => Attribute::Scalar(taken(v, &from)),
        Attribute::Vec2(v) => Attribute::Vec2(taken(v, &from)),
        Attribute::Vec3(v) => Attribute::Vec3(taken(v, &from)),
        Attribute::Vec4(v) => Attribute::Vec4(taken(v, &from)),
    };
    let attributes = mesh.attributes.iter();
    Ok(Mesh {
        name: mesh.name.clone(),
        topology: Arc::new(Topology::from_strands(all)),
        positions,
        uvs: mesh.uvs.iter().map(|set| taken(set, &from)).collect(),
        colors: mesh.colors.iter().map(|set| taken(set, &from)).collect(),
        attributes: attributes
            .map(|(name, a)| (name.clone(), attribute(a)))
            .collect(),
        influences: mesh
            .influences
            .as_ref()
            .map(|i| i.gathered(from.iter().copied())),
        ..Mesh::default()
    })
}

fn taken<T: Copy>(values: &[T], from: &[usize]) -> Vec<T> {
    from.iter().map(|&v| values[v]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::{Influences, Strands};

    #[test]
    fn followers_have_what_their_guide_has() {
        let strands = Strands::new([3, 2]).expect("valid");
        let positions = (0..5_u8).map(|i| [0.0, f32::from(i), 0.0]).collect();
        let mut mesh = Mesh::new("hair", Topology::from_strands(strands), positions);
        mesh.uvs = vec![(0..5_u8).map(|i| [f32::from(i), 0.5]).collect()];
        let masses = vec![0.0, 0.0, 1.0, 0.0, 0.0];
        mesh.attributes
            .insert("inverse_mass".into(), Attribute::Scalar(masses));
        mesh.influences = Some(Influences::rigid(5, 3));
        let followers = Followers {
            count: 2,
            radius: 0.25,
            tip_separation: 1.0,
            seed: 7,
            skin: None,
        };
        let found = with_followers(&mesh, &followers, None).expect("few");
        found.check().expect("arrays fit");
        let strands = found.topology.strands().expect("strands");
        assert_eq!(strands.guides(), [0, 0, 0, 3, 3, 3]);
        assert_eq!(found.vertex_count(), 15);
        for (strand, range) in strands.ranges().enumerate() {
            let guide = strands.range(strands.guides()[strand] as usize);
            for (own, lead) in range.zip(guide) {
                assert_eq!(found.uvs[0][own], found.uvs[0][lead]);
                let [a, b] = [own, lead].map(|v| found.positions[v]);
                let apart = (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>().sqrt();
                assert!(apart <= 0.5 + 1e-6, "radius and tip separation");
                assert_eq!(apart == 0.0, strands.is_guide(strand));
            }
        }
        let rows = found.influences.as_ref().map(Influences::vertex_count);
        assert_eq!(rows, Some(15));
    }
}
