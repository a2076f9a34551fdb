//! The mean displacement of the paired corners around each point: where its neighbours go, a triangle goes.

use super::Vector;
use super::candidates::best_turn;
use super::surface::{Piece, Surface, rotated};

/// A displacement for each place of a surface, zero where nothing near is paired.
#[derive(Debug)]
pub(super) struct Drift {
    places: Vec<Vector>,
}

impl Drift {
    pub(super) fn new(
        surface: &Surface,
        other: &Surface,
        partners: &[Option<u32>],
        smoothing: usize,
    ) -> Self {
        let mut corners: Vec<Option<[Vector; 3]>> = surface
            .pieces
            .iter()
            .zip(partners)
            .map(|(piece, partner)| {
                partner.map(|partner| displacement(piece, &other.pieces[partner as usize]))
            })
            .collect();
        let mut places = averaged(surface, &corners);
        for _ in 0..smoothing {
            for (piece, corners) in surface.pieces.iter().zip(&mut corners) {
                *corners = mean(piece, &places).map(|mean| [mean; 3]);
            }
            places = averaged(surface, &corners);
        }
        Self {
            places: places.into_iter().map(Option::unwrap_or_default).collect(),
        }
    }

    /// The displacement of a place.
    pub(super) fn of_place(&self, place: usize) -> Vector {
        self.places[place]
    }

    /// The corners of a piece where they are expected.
    pub(super) fn moved(&self, piece: &Piece) -> [Vector; 3] {
        [0, 1, 2].map(|k| piece.corners[k] + self.places[piece.places[k] as usize])
    }
}

fn displacement(piece: &Piece, partner: &Piece) -> [Vector; 3] {
    let (turn, _) = best_turn(&piece.corners, &partner.corners);
    let goals = rotated(partner.corners, turn);
    [0, 1, 2].map(|k| goals[k] - piece.corners[k])
}

/// Mean of the known places of a piece.
fn mean(piece: &Piece, places: &[Option<Vector>]) -> Option<Vector> {
    let known = piece
        .places
        .iter()
        .filter_map(|&place| places[place as usize]);
    let (sum, count) = known.fold((Vector::zeros(), 0.0), |(sum, count), value| {
        (sum + value, count + 1.0)
    });
    (count > 0.0).then(|| sum / count)
}

/// Mean over the corners at each place.
fn averaged(surface: &Surface, corners: &[Option<[Vector; 3]>]) -> Vec<Option<Vector>> {
    let mut sums = vec![(Vector::zeros(), 0.0_f32); surface.places];
    for (piece, corners) in surface.pieces.iter().zip(corners) {
        let Some(corners) = corners else { continue };
        for (place, corner) in piece.places.iter().zip(corners) {
            let (sum, count) = &mut sums[*place as usize];
            *sum += corner;
            *count += 1.0;
        }
    }
    let means = sums.into_iter();
    means
        .map(|(sum, count)| (count > 0.0).then(|| sum / count))
        .collect()
}
