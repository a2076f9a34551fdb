//! Which of two sets belong together: as many pairs as there can be.
//!
//! Where things are nearer to each other than the codes tell apart, taking the nearest one first may leave two without a partner that both have others.
//! Such pairs are taken apart again along alternating paths (Berge), so that what is left without a partner has none.

use std::collections::VecDeque;

/// What may be shown somewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Which one of the truth.
    pub(super) item: usize,
    /// How far off it is, metres.
    pub(super) off: f64,
    /// Which of its corners comes first.
    pub(super) turn: usize,
    /// Whether something else than its place is another one's.
    pub(super) is_other: bool,
}

/// What is shown, each with what it may be.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    candidates: Vec<Vec<Candidate>>,
    /// Of what is shown, which of its candidates it is.
    chosen: Vec<Option<usize>>,
    /// Of each of the truth, what shows it.
    shown_as: Vec<Option<usize>>,
    /// Of each of the truth, what may show it, and as which of its candidates.
    may_be: Vec<Vec<(usize, usize)>>,
}

impl Pairing {
    /// Pairs what is shown with `items`: those that fit in all first, then those whose place alone fits. What is shown comes before all; of the items those that
    /// are `needed` come before the others. Cost: edges for each that finds no partner at once.
    pub(super) fn new(
        candidates: Vec<Vec<Candidate>>,
        items: usize,
        needed: impl Fn(usize) -> bool,
    ) -> Self {
        let mut may_be = vec![Vec::new(); items];
        for (shown, list) in candidates.iter().enumerate() {
            for (i, candidate) in list.iter().enumerate() {
                may_be[candidate.item].push((shown, i));
            }
        }
        let mut this = Self {
            chosen: vec![None; candidates.len()],
            shown_as: vec![None; items],
            candidates,
            may_be,
        };
        for may_differ in [false, true] {
            this.nearest_first(may_differ);
            for shown in 0..this.chosen.len() {
                this.find_for(shown, may_differ);
            }
            for item in (0..items).filter(|i| needed(*i)) {
                this.find_instead(item, may_differ, &needed);
            }
        }
        this
    }

    /// What something that is shown is; `None` where nothing is left.
    pub(super) fn of(&self, shown: usize) -> Option<&Candidate> {
        self.chosen[shown].map(|i| &self.candidates[shown][i])
    }

    /// What of the truth is shown nowhere.
    pub(super) fn left(&self) -> impl Iterator<Item = usize> + '_ {
        let all = self.shown_as.iter().enumerate();
        all.filter(|(_, shown)| shown.is_none()).map(|(i, _)| i)
    }

    fn nearest_first(&mut self, may_differ: bool) {
        for shown in 0..self.chosen.len() {
            if self.chosen[shown].is_some() {
                continue;
            }
            let all = self.candidates[shown].iter().enumerate();
            let free =
                all.filter(|(_, c)| (may_differ || !c.is_other) && self.shown_as[c.item].is_none());
            let nearest = free.min_by(|a, b| a.1.off.total_cmp(&b.1.off));
            if let Some((i, _)) = nearest {
                self.choose(shown, i);
            }
        }
    }

    fn choose(&mut self, shown: usize, i: usize) {
        self.chosen[shown] = Some(i);
        self.shown_as[self.candidates[shown][i].item] = Some(shown);
    }

    /// Finds a partner for what has none, with others changing theirs.
    fn find_for(&mut self, shown: usize, may_differ: bool) {
        if self.chosen[shown].is_some() {
            return;
        }
        // Of each item, what came to it and as which of its candidates.
        let mut came: Vec<(usize, (usize, usize))> = Vec::new();
        let mut seen = std::collections::HashMap::new();
        let mut queue = VecDeque::from([shown]);
        while let Some(from) = queue.pop_front() {
            for (i, c) in self.candidates[from].iter().enumerate() {
                if (c.is_other && !may_differ) || seen.contains_key(&c.item) {
                    continue;
                }
                seen.insert(c.item, came.len());
                came.push((c.item, (from, i)));
                match self.shown_as[c.item] {
                    Some(next) => queue.push_back(next),
                    None => return self.turn_over(&came, &seen, c.item, shown),
                }
            }
        }
    }

    /// Goes back along a path from an item that is free, and gives each on the way the item behind it.
    fn turn_over(
        &mut self,
        came: &[(usize, (usize, usize))],
        seen: &std::collections::HashMap<usize, usize>,
        free: usize,
        start: usize,
    ) {
        let mut item = free;
        loop {
            let (_, (from, i)) = came[seen[&item]];
            let before = self.chosen[from].map(|i| self.candidates[from][i].item);
            self.choose(from, i);
            match before {
                Some(before) if from != start => item = before,
                _ => return,
            }
        }
    }

    /// Shows an item that is needed in place of one that is not, with others changing theirs.
    fn find_instead(&mut self, item: usize, may_differ: bool, needed: &impl Fn(usize) -> bool) {
        if self.shown_as[item].is_some() {
            return;
        }
        // Of what is shown, for which item it is asked.
        let mut asked = std::collections::HashMap::new();
        let mut queue = VecDeque::from([item]);
        while let Some(wanting) = queue.pop_front() {
            for &(shown, i) in &self.may_be[wanting] {
                let is_other = self.candidates[shown][i].is_other;
                let Some(now) = self.of(shown).map(|c| c.item) else {
                    continue;
                };
                if (is_other && !may_differ) || asked.contains_key(&shown) {
                    continue;
                }
                asked.insert(shown, (wanting, i));
                if needed(now) {
                    queue.push_back(now);
                    continue;
                }
                self.shown_as[now] = None;
                return self.hand_on(&asked, shown, item);
            }
        }
    }

    /// Goes back along a path to the item that was needed.
    fn hand_on(
        &mut self,
        asked: &std::collections::HashMap<usize, (usize, usize)>,
        last: usize,
        item: usize,
    ) {
        let mut shown = last;
        loop {
            let (wanting, i) = asked[&shown];
            let before = self.shown_as[wanting];
            self.choose(shown, i);
            match before {
                Some(before) if wanting != item => shown = before,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(lists: &[&[(usize, f64)]]) -> Vec<Vec<Candidate>> {
        let of = |&(item, off): &(usize, f64)| Candidate {
            item,
            off,
            turn: 0,
            is_other: false,
        };
        lists.iter().map(|l| l.iter().map(of).collect()).collect()
    }

    /// Item of each that is shown.
    fn chosen(pairing: &Pairing) -> Vec<Option<usize>> {
        let count = pairing.chosen.len();
        (0..count).map(|s| pairing.of(s).map(|c| c.item)).collect()
    }

    #[test]
    fn pairs_that_the_nearest_first_leaves_alone_are_found() {
        // The first one takes 1, which is nearer, and the last one has nothing else: 0 - 2, 1 - 0, 2 - 1 is the only way.
        let lists: [&[(usize, f64)]; 3] = [&[(1, 0.1), (2, 0.2)], &[(0, 0.3)], &[(1, 0.1)]];
        let found = Pairing::new(candidates(&lists), 3, |_| true);
        assert_eq!(chosen(&found), [Some(2), Some(0), Some(1)]);
        assert_eq!(found.left().count(), 0);
        // Along a longer path.
        let lists: [&[(usize, f64)]; 4] = [
            &[(0, 0.1), (1, 0.9)],
            &[(1, 0.1), (2, 0.9)],
            &[(2, 0.1), (3, 0.9)],
            &[(0, 0.1)],
        ];
        let found = Pairing::new(candidates(&lists), 4, |_| true);
        assert_eq!(chosen(&found), [Some(1), Some(2), Some(3), Some(0)]);
    }

    #[test]
    fn what_is_needed_is_shown_in_place_of_what_is_not() {
        // 0 is too small to be missed; 2 is not, and can only be shown by the one that shows 1.
        let lists: [&[(usize, f64)]; 2] = [&[(0, 0.1), (1, 0.2)], &[(1, 0.1), (2, 0.2)]];
        let found = Pairing::new(candidates(&lists), 3, |item| item > 0);
        assert_eq!(chosen(&found), [Some(1), Some(2)]);
        assert_eq!(found.left().collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn what_fits_in_all_comes_first_and_the_rest_where_it_must() {
        let mut lists = candidates(&[&[(0, 0.1), (1, 0.2)], &[(0, 0.2)]]);
        lists[0][0].is_other = true;
        let found = Pairing::new(lists.clone(), 2, |_| true);
        assert_eq!(chosen(&found), [Some(1), Some(0)]);
        lists[1][0].is_other = true;
        lists[0].truncate(1);
        let found = Pairing::new(lists, 2, |_| true);
        assert_eq!(chosen(&found), [Some(0), None]);
        assert_eq!(found.left().collect::<Vec<_>>(), [1]);
    }

    /// Against all ways there are: as many pairs as can be.
    #[test]
    fn there_are_as_many_pairs_as_there_can_be() {
        // All tables of four by four.
        for table in 0..1_u32 << 16 {
            let may = |s: usize, i: usize| table >> (4 * s + i) & 1 == 1;
            if table % 7 != 0 {
                continue;
            }
            let list = |s: usize| {
                let items = (0..4).filter(|i| may(s, *i));
                items
                    .map(|item| Candidate {
                        item,
                        off: (item * 7 % 4) as f64,
                        turn: 0,
                        is_other: false,
                    })
                    .collect()
            };
            let found = Pairing::new((0..4).map(list).collect(), 4, |_| true);
            let pairs = chosen(&found).iter().flatten().count();
            let most = most_pairs(&may, 0, 0);
            assert_eq!((pairs, found.left().count()), (most, 4 - most), "{table:b}");
        }
    }

    fn most_pairs(may: &impl Fn(usize, usize) -> bool, shown: usize, taken: u32) -> usize {
        if shown == 4 {
            return 0;
        }
        let without = most_pairs(may, shown + 1, taken);
        let free = (0..4).filter(|i| may(shown, *i) && taken >> i & 1 == 0);
        let with = free.map(|i| 1 + most_pairs(may, shown + 1, taken | 1 << i));
        with.fold(without, usize::max)
    }
}
