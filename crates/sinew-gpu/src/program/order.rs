//! The order of a frame's launches: those that do not wait for each other side by side.
//!
//! Between two dispatches that share an array which one of them writes, the device finishes the first before it begins the second.
//! Nodes have chains of small launches; one node's chain behind the other's, as the graph lists them, would wait at every link of each. Level by
//! level, independent chains (the fields of several colliders, say) fill the device together.

use super::launch::Launch;
use super::memory::Memory;
use crate::pipeline::Access;
use std::collections::BTreeMap;

/// What runs as a whole, and how it uses memory.
struct Unit {
    len: usize,
    uses: Vec<(Memory, bool)>,
}

/// Sorts launches by level; on one level the order stays. A node whose frame decides which of its launches run keeps them together.
pub(super) fn by_level(launches: Vec<Launch>) -> Vec<Launch> {
    let uses = |l: &Launch| {
        let writes = |k: usize| {
            let access = l.bindings.get(k).map(|b| b.access);
            access.is_none_or(|a| a == Access::ReadWrite)
        };
        let all = l.memories.iter().enumerate();
        all.map(|(k, m)| (*m, writes(k))).collect::<Vec<_>>()
    };
    let runs = launches.chunk_by(|a, b| match (a.varying, b.varying) {
        (Some(a), Some(b)) => a.0 == b.0,
        _ => false,
    });
    let units = runs.map(|run| Unit {
        len: run.len(),
        uses: run.iter().flat_map(uses).collect(),
    });
    let units: Vec<Unit> = units.collect();
    let levels = levels(&units);
    let of_launch = units.iter().zip(&levels);
    let of_launch = of_launch.flat_map(|(unit, level)| std::iter::repeat_n(*level, unit.len));
    let mut sorted: Vec<(usize, Launch)> = of_launch.zip(launches).collect();
    sorted.sort_by_key(|(level, _)| *level);
    sorted.into_iter().map(|(_, launch)| launch).collect()
}

/// One more than the highest level among those before that it must wait for; zero where it waits for none.
fn levels(units: &[Unit]) -> Vec<usize> {
    /// Levels up to which an array is read and written.
    #[derive(Clone, Copy, Default)]
    struct Until {
        read: usize,
        written: usize,
    }
    let mut until: BTreeMap<Memory, Until> = BTreeMap::new();
    let mut out = Vec::with_capacity(units.len());
    for unit in units {
        let least = |(memory, writes): &(Memory, bool)| {
            let u = until.get(memory).copied().unwrap_or_default();
            if *writes {
                u.read.max(u.written)
            } else {
                u.written
            }
        };
        let level = unit.uses.iter().map(least).max().unwrap_or_default();
        for (memory, writes) in &unit.uses {
            let u = until.entry(*memory).or_default();
            let last = if *writes { &mut u.written } else { &mut u.read };
            *last = (*last).max(level + 1);
        }
        out.push(level);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(reads: &[usize], writes: &[usize]) -> Unit {
        let read = reads.iter().map(|m| (Memory::Frame(*m), false));
        let written = writes.iter().map(|m| (Memory::Frame(*m), true));
        Unit {
            len: 1,
            uses: read.chain(written).collect(),
        }
    }

    #[test]
    fn independent_chains_run_side_by_side() {
        let chain = |a: usize| {
            [
                unit(&[0], &[a]),
                unit(&[a], &[a + 1]),
                unit(&[a + 1], &[a + 2]),
            ]
        };
        let both: Vec<Unit> = chain(10).into_iter().chain(chain(20)).collect();
        assert_eq!(levels(&both), [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn whoever_shares_what_is_written_waits() {
        let all = [
            unit(&[], &[1]),
            // Reads what was written, writes it anew, reads that; a reader of something else.
            unit(&[1], &[2]),
            unit(&[], &[1]),
            unit(&[1], &[3]),
            unit(&[9], &[4]),
            // Writes what the last one of them read.
            unit(&[], &[9]),
        ];
        assert_eq!(levels(&all), [0, 1, 2, 3, 0, 1]);
    }

    #[test]
    fn order_keeps_what_shares_memory_in_order() {
        // Every pair, brute force.
        let all = [
            unit(&[1, 2], &[3]),
            unit(&[3], &[1]),
            unit(&[5], &[6]),
            unit(&[6, 1], &[2]),
            unit(&[2], &[5]),
            unit(&[], &[7]),
            unit(&[7, 3], &[7]),
        ];
        let levels = levels(&all);
        for j in 0..all.len() {
            for i in 0..j {
                let shares = all[i].uses.iter().any(|(m, w)| {
                    let others = all[j].uses.iter();
                    others.clone().any(|(n, v)| m == n && (*w || *v))
                });
                assert!(!shares || levels[i] < levels[j], "{i} and {j}: {levels:?}");
            }
        }
    }
}
