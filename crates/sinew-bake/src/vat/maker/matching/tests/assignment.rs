//! The auction against the true optimum.

use super::super::auction::{Offer, Offers, STEP, assign};
use super::shapes::Random;

fn cost(offers: &Offers, taken: &[Option<u32>], alone: i32) -> i64 {
    let of = |(bidder, good): (usize, &Option<u32>)| match good {
        None => i64::from(alone),
        Some(good) => {
            let own = offers.starts[bidder] as usize..offers.starts[bidder + 1] as usize;
            i64::from(
                offers.offers[own]
                    .iter()
                    .find(|offer| offer.good == *good)
                    .unwrap()
                    .cost,
            )
        }
    };
    taken.iter().enumerate().map(of).sum()
}

/// The least sum of costs by shortest augmenting paths over the full matrix (Kuhn 1955, Munkres 1957), in which each
/// bidder has a good of its own that stands for being alone.
fn optimum(offers: &Offers, goods: usize, alone: i32) -> i64 {
    let bidders = offers.bidders();
    let columns = goods + bidders;
    let mut matrix = vec![vec![i64::from(i32::MAX); columns]; bidders];
    for (bidder, row) in matrix.iter_mut().enumerate() {
        for offer in
            &offers.offers[offers.starts[bidder] as usize..offers.starts[bidder + 1] as usize]
        {
            row[offer.good as usize] = i64::from(offer.cost);
        }
        row[goods + bidder] = i64::from(alone);
    }
    let (mut row_price, mut column_price) = (vec![0; bidders + 1], vec![0; columns + 1]);
    // Column 0 is the root of the search; rows and columns count from 1.
    let mut row_of = vec![0; columns + 1];
    for row in 1..=bidders {
        row_of[0] = row;
        let (mut slack, mut way) = (vec![i64::MAX; columns + 1], vec![0; columns + 1]);
        let mut used = vec![false; columns + 1];
        let mut at = 0;
        while row_of[at] != 0 {
            used[at] = true;
            let (mut least, mut next) = (i64::MAX, 0);
            for column in (1..=columns).filter(|&column| !used[column]) {
                let reduced = matrix[row_of[at] - 1][column - 1]
                    - row_price[row_of[at]]
                    - column_price[column];
                if reduced < slack[column] {
                    (slack[column], way[column]) = (reduced, at);
                }
                if slack[column] < least {
                    (least, next) = (slack[column], column);
                }
            }
            for column in 0..=columns {
                if used[column] {
                    row_price[row_of[column]] += least;
                    column_price[column] -= least;
                } else {
                    slack[column] = slack[column].saturating_sub(least);
                }
            }
            at = next;
        }
        while at != 0 {
            row_of[at] = row_of[way[at]];
            at = way[at];
        }
    }
    (1..=columns)
        .filter(|&column| row_of[column] != 0)
        .map(|column| matrix[row_of[column] - 1][column - 1])
        .sum()
}

fn instance(random: &mut Random) -> (Offers, usize, i32) {
    let (bidders, goods) = (1 + random.below(40), 1 + random.below(40));
    let mut offers = Offers::default();
    offers.starts.push(0);
    for _ in 0..bidders {
        let count = random.below(9).min(goods);
        for good in random.order(goods).into_iter().take(count) {
            let cost = random.below(4000) as i32;
            offers.offers.push(Offer {
                cost,
                good: good as u32,
            });
        }
        offers.starts.push(offers.offers.len() as u32);
    }
    (offers, goods, 4096)
}

#[test]
fn the_sum_of_costs_is_within_the_promised_distance_of_the_optimum() {
    let mut random = Random(1);
    let (mut total, mut least) = (0, 0);
    for round in 0..300 {
        let (offers, goods, alone) = instance(&mut random);
        let taken = assign(&offers, goods, alone);
        let (found, optimum) = (cost(&offers, &taken, alone), optimum(&offers, goods, alone));
        let promised = optimum + offers.bidders() as i64 * i64::from(STEP);
        assert!(
            (optimum..=promised).contains(&found),
            "{round}: {found}, optimum {optimum}"
        );
        total += found;
        least += optimum;
    }
    let factor = total as f64 / least as f64;
    println!("auction / optimum = {factor:.5}");
    assert!(factor < 1.002, "{factor} of the optimum");
}
