//! Which characters run which passes, where that is known with the frame only: those that run the same passes share their launches.

/// Characters that a dispatch covers, as a kernel finds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    /// Where their numbers begin in the list of numbers, in bytes: an offset for the binding.
    pub(super) offset: u32,
    /// How many they are.
    pub(super) count: u32,
}

/// The passes of one node in a frame.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeBatches {
    /// Lists of passes that differ; more than are in use, so that no frame makes one.
    lists: Vec<Vec<usize>>,
    used: usize,
    /// Which list each character runs.
    of_instance: Vec<usize>,
    /// List and characters, in the order in which they run.
    batches: Vec<(usize, Batch)>,
}

/// Initial capacity of lists of passes, and of passes per list. A frame that needs more allocates more.
const ROOM_FOR_LISTS: usize = 64;

impl NodeBatches {
    /// Reserves capacity so that frames do not allocate.
    fn reserve(&mut self, instances: usize) {
        let lists = (instances + 1).min(ROOM_FOR_LISTS);
        let list = || Vec::with_capacity(ROOM_FOR_LISTS);
        self.lists = std::iter::repeat_with(list).take(lists).collect();
        self.of_instance.reserve(instances);
        self.batches.reserve(instances);
    }

    /// Begins a frame.
    pub(super) fn clear(&mut self) {
        self.used = 0;
        self.of_instance.clear();
        self.batches.clear();
    }

    /// The list of the next character, to be filled; [`Self::end_list`] takes it.
    pub(super) fn begin_list(&mut self) -> &mut Vec<usize> {
        if self.used == self.lists.len() {
            self.lists.push(Vec::new());
        }
        let list = &mut self.lists[self.used];
        list.clear();
        list
    }

    /// The list is whole.
    pub(super) fn end_list(&mut self) {
        let (known, new) = self.lists.split_at(self.used);
        let same = known.iter().position(|list| *list == new[0]);
        self.of_instance.push(same.unwrap_or(self.used));
        self.used += usize::from(same.is_none());
    }

    /// Writes the numbers of the characters behind `numbers`, those that run together side by side, and notes where they are.
    fn arrange(&mut self, numbers: &mut Vec<[u32; 4]>, room: Room) {
        for list in 0..self.used {
            let members = || {
                let all = (0_u32..).zip(&self.of_instance);
                all.filter(|(_, l)| **l == list).map(|(i, _)| i)
            };
            let mut members = members().peekable();
            while members.peek().is_some() {
                let first = numbers.len().next_multiple_of(room.alignment);
                numbers.resize(first, [0; 4]);
                let mut count = 0;
                for instance in members.by_ref().take(room.most) {
                    if count % 4 == 0 {
                        numbers.push([0; 4]);
                    }
                    if let Some(last) = numbers.last_mut() {
                        last[count % 4] = instance;
                    }
                    count += 1;
                }
                let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                let batch = Batch {
                    offset: narrow(first * 16),
                    count: narrow(count),
                };
                self.batches.push((list, batch));
            }
        }
    }

    /// What runs, in order: pass and characters.
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, Batch)> {
        let batches = self.batches.iter();
        batches.flat_map(|&(list, batch)| self.lists[list].iter().map(move |pass| (*pass, batch)))
    }
}

/// How numbers lie in memory, in vectors of four.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// Where a binding may begin.
    alignment: usize,
    /// Characters that one binding holds.
    most: usize,
}

/// All nodes whose passes vary, and the numbers of characters that their kernels read.
#[derive(Debug)]
pub(super) struct Batches {
    of_node: Vec<NodeBatches>,
    vary: Vec<bool>,
    numbers: Vec<[u32; 4]>,
    /// As they were sent last.
    sent: Vec<[u32; 4]>,
    room: Room,
    instances: usize,
}

impl Batches {
    /// `vary` tells which nodes' passes do. `alignment` and `binding_bytes` are those of uniform bindings.
    pub(super) fn new(
        vary: Vec<bool>,
        instances: usize,
        alignment: usize,
        binding_bytes: u64,
    ) -> Self {
        let most = usize::try_from(binding_bytes / 4).unwrap_or(usize::MAX);
        let mut out = Self {
            of_node: vec![NodeBatches::default(); vary.len()],
            vary,
            numbers: Vec::new(),
            sent: Vec::new(),
            room: Room {
                alignment: alignment.max(16) / 16,
                most: instances.min(most).next_multiple_of(4).max(4),
            },
            instances,
        };
        let most = out.most_vectors();
        out.numbers.reserve(most);
        out.sent.reserve(most);
        let vary = out.vary.iter();
        for (node, _) in out.of_node.iter_mut().zip(vary).filter(|(_, v)| **v) {
            node.reserve(instances);
        }
        out
    }

    /// Vectors of four numbers that a binding covers.
    pub(super) fn window(&self) -> usize {
        self.room.most / 4
    }

    /// Vectors of four numbers that there are at most, with what the last binding covers.
    pub(super) fn most_vectors(&self) -> usize {
        let nodes = self.vary.iter().filter(|v| **v).count();
        // Every character on its own is the worst.
        nodes * self.instances * self.room.alignment.max(1) + self.window()
    }

    /// The node's lists, where its passes vary.
    pub(super) fn node(&mut self, node: usize) -> Option<&mut NodeBatches> {
        let vary = self.vary.get(node).copied().unwrap_or_default();
        self.of_node.get_mut(node).filter(|_| vary)
    }

    /// Begins a frame.
    pub(super) fn clear(&mut self) {
        self.of_node.iter_mut().for_each(NodeBatches::clear);
    }

    /// All characters of the frame are there; gives the numbers to send where they changed.
    pub(super) fn arrange(&mut self) -> Option<&[[u32; 4]]> {
        self.numbers.clear();
        for node in &mut self.of_node {
            node.arrange(&mut self.numbers, self.room);
        }
        if self.numbers == self.sent {
            return None;
        }
        self.sent.clone_from(&self.numbers);
        Some(&self.sent)
    }

    /// What is sent next is sent whole.
    pub(super) fn forget_sent(&mut self) {
        self.sent.clear();
    }

    /// What runs of a node, in order: pass and characters.
    pub(super) fn runs(&self, node: usize) -> impl Iterator<Item = (usize, Batch)> {
        self.of_node
            .get(node)
            .into_iter()
            .flat_map(NodeBatches::runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pass lists of the characters, and what comes of them: list, numbers.
    fn arranged(lists: &[&[usize]], most_bytes: u64) -> Vec<(usize, Vec<u32>)> {
        let mut all = Batches::new(vec![false, true], lists.len(), 256, most_bytes);
        assert!(all.node(0).is_none(), "its passes do not vary");
        for round in 0..2 {
            all.clear();
            for list in lists {
                let node = all.node(1).expect("varies");
                node.begin_list().extend_from_slice(list);
                node.end_list();
            }
            assert_eq!(all.arrange().is_some(), round == 0, "sent once");
        }
        assert!(all.numbers.len() + all.window() <= all.most_vectors() + all.room.alignment);
        let numbers = all.numbers.as_flattened();
        let batches = all.of_node[1].batches.iter();
        batches
            .map(|(list, batch)| {
                assert_eq!(batch.offset % 256, 0);
                let first = batch.offset as usize / 4;
                (*list, numbers[first..first + batch.count as usize].to_vec())
            })
            .collect()
    }

    #[test]
    fn characters_with_the_same_passes_run_together() {
        assert_eq!(
            arranged(&[&[0, 1], &[0], &[0, 1], &[0, 1], &[]], 65_536),
            [(0, vec![0, 2, 3]), (1, vec![1]), (2, vec![4])]
        );
        assert_eq!(arranged(&[&[2][..]; 6], 65_536), [(0, (0..6).collect())]);
    }

    #[test]
    fn more_than_a_binding_holds_run_one_after_another() {
        let found = arranged(&[&[2][..]; 11], 16);
        let expected = [0..4, 4..8, 8..11].map(|r| (0, r.collect()));
        assert_eq!(found, expected);
    }
}
