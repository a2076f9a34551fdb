//! One-to-one assignment by auction, with the choice to stay alone.
//!
//! Bidders are the triangles of one frame, goods those of the next. A bidder takes the good with the lowest sum of cost
//! and price, and pays so much more for it that its second choice is as good, plus [`STEP`]. Who is outbid bids again.
//! Staying alone costs `alone` and has no price, so bidding ends: no price rises beyond `alone`.
//!
//! No good that ever had a bid is free again and the others cost nothing, so the sum of costs is at most
//! `bidders * STEP` above the smallest possible (Bertsekas, *Auction algorithms for network flow problems*, 1992,
//! section 3 and its remarks on asymmetric problems). Costs are integers: the result does not depend on rounding.

/// How much a bid goes beyond the second choice: the error a bidder may be left with.
pub(super) const STEP: i32 = 16;

/// One good that a bidder may take, at a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) cost: i32,
    pub(super) good: u32,
}

/// The offers of all bidders: those of bidder `b` are `offers[starts[b]..starts[b + 1]]`.
#[derive(Debug, Default)]
pub(super) struct Offers {
    pub(super) starts: Vec<u32>,
    pub(super) offers: Vec<Offer>,
}

impl Offers {
    fn of(&self, bidder: usize) -> &[Offer] {
        &self.offers[self.starts[bidder] as usize..self.starts[bidder + 1] as usize]
    }

    pub(super) fn bidders(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
}

/// The cheapest offer with prices, and how much dearer the second choice is.
fn choose(offers: &[Offer], prices: &[i32], alone: i32) -> Option<(u32, i32)> {
    let (mut best, mut second) = (alone, alone);
    let mut good = None;
    for offer in offers {
        let total = offer.cost + prices[offer.good as usize];
        if total < best {
            second = best;
            best = total;
            good = Some(offer.good);
        } else if total < second {
            second = total;
        }
    }
    good.map(|good| (good, second - best))
}

/// The good of each bidder, and none for those that stay alone at the cost `alone`. Goods are `0..goods`.
///
/// Cost: at most `alone / STEP` bids for each offer, in practice a few for each bidder.
pub(super) fn assign(offers: &Offers, goods: usize, alone: i32) -> Vec<Option<u32>> {
    let mut prices = vec![0_i32; goods];
    let mut owner = vec![None::<u32>; goods];
    let mut taken = vec![None; offers.bidders()];
    // The last one outbid bids first: its surroundings are in the cache.
    let mut waiting: Vec<u32> = (0..offers.bidders() as u32).rev().collect();
    while let Some(bidder) = waiting.pop() {
        let Some((good, gap)) = choose(offers.of(bidder as usize), &prices, alone) else {
            continue;
        };
        prices[good as usize] += gap + STEP;
        taken[bidder as usize] = Some(good);
        if let Some(outbid) = owner[good as usize].replace(bidder) {
            taken[outbid as usize] = None;
            waiting.push(outbid);
        }
    }
    taken
}
