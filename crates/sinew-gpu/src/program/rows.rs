//! Relations in GPU memory: the indices of related elements for each element, ordered so that the threads of a group read consecutive
//! words.
//!
//! First comes a head for each element, then blocks of 32 elements. A block has word `k` of all 32 rows, then word `k + 1` of all 32
//! rows, up to its longest row. The lower five bits of a head are the length of the row. The other bits (a multiple of 32) are the start
//! of its block. A row of [`LONG`] entries or more is stored alone at that offset: its length, then its words one after another.
//!
//! Entries come in groups, each followed by its extra words. If all entries are less than 2^15 away, or are indices within a tile, two
//! entries share a word. If all rows have exactly one entry, they are stored as words without heads.
//!
//! If no row is too long, all rows have the same size instead: vectors of four words. The first number is the length, then come the
//! entries, padded so that a kernel can read the same number of entries of every row without a check. Then come the extra words, padded
//! too. Within a tile, the vectors of a row are adjacent. Otherwise the first vectors of all rows come first, then the second ones:
//! kernels then skip vectors that only few rows need.

use sinew_deform::{DeviceExtras, DevicePadding, DeviceRelation};
use std::fmt::Write;

/// Length in a head that means: the row lies alone.
const LONG: usize = 31;
/// Elements of a block.
const BLOCK: usize = 32;

/// How entries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// A word each.
    Far,
    /// Half a word each: signed distances from the row's own number.
    Near,
    /// Half a word each, as they are.
    Local,
}

/// How the rows of a relation are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowShape {
    numbers: Numbers,
    group: usize,
    /// Words beside a group.
    extras: usize,
    /// Every row has exactly one entry.
    single: bool,
    /// Some rows lie alone.
    long: bool,
    /// Entry `i` of row `i`, and nothing else.
    pub(super) identity: bool,
    /// Entries of the longest row.
    pub(super) most: usize,
    /// All rows have the same size.
    fixed: bool,
    /// What they are filled up with.
    padding: DevicePadding,
    padding_word: u32,
    /// How many there are.
    rows: usize,
}

/// Entries of rows that are filled up to the longest, at most.
const MOST_FIXED: usize = 23;

/// Entries of a row and the words beside them.
pub(super) type Row<'a> = (&'a [u32], &'a [u32]);

impl RowShape {
    /// For all rows at once; `simple` for devices that are slow to compile long kernels.
    pub(super) fn of(relation: &DeviceRelation, simple: bool) -> Self {
        let lengths = || relation.offsets.windows(2).map(|w| w[1] - w[0]);
        let near = (0..relation.len()).all(|i| {
            let row = relation.row(i);
            row.len() >= LONG || row.iter().all(|&n| distance(n, i).is_some())
        });
        let group = if relation.group == 3 { 3 } else { 2 };
        let mut this = Self {
            numbers: if near { Numbers::Near } else { Numbers::Far },
            group,
            extras: match relation.extras {
                DeviceExtras::None => 0,
                DeviceExtras::PerGroup(_) => 1,
                DeviceExtras::PerEntry(_) => group,
            },
            single: relation.extras == DeviceExtras::None && lengths().all(|n| n == 1),
            long: lengths().any(|n| n as usize >= LONG),
            identity: relation.is_identity(),
            most: lengths().max().unwrap_or(0) as usize,
            fixed: false,
            padding: relation.padding,
            padding_word: relation.padding_word,
            rows: relation.len(),
        };
        // Room for the longest row must not cost much where most are short.
        let groups: usize = lengths().map(|n| (n as usize).div_ceil(this.group)).sum();
        let as_needed = relation.len() + groups * this.group_words();
        let fixed = 4 * this.vectors().iter().sum::<usize>() * relation.len();
        this.fixed = !simple && this.may_be_fixed() && fixed <= 2 * as_needed;
        this
    }

    fn may_be_fixed(&self) -> bool {
        !self.single && !self.identity && self.most <= MOST_FIXED
    }

    /// For rows of numbers within a tile.
    pub(super) fn local(self) -> Self {
        Self {
            numbers: Numbers::Local,
            fixed: self.may_be_fixed(),
            ..self
        }
    }

    /// Iterations, with that many entries each, that every row may run regardless of its length. After them, padding would count, or was
    /// not read: only rows that need further vectors read them.
    pub(super) fn free_turns(&self, entries: usize) -> usize {
        match (self.numbers, self.padding) {
            (Numbers::Local, _) => usize::MAX,
            (_, DevicePadding::Zero) => 0,
            _ => (self.per_vector() - 1) / entries,
        }
    }

    /// Numbers of a vector.
    fn per_vector(&self) -> usize {
        match self.numbers {
            Numbers::Far => 4,
            Numbers::Near | Numbers::Local => 8,
        }
    }

    /// Vectors of a row's numbers and of the words beside them, where rows have the same room.
    fn vectors(&self) -> [usize; 2] {
        let words = self.most.div_ceil(self.group) * self.extras;
        [
            (1 + self.most).div_ceil(self.per_vector()),
            words.div_ceil(4),
        ]
    }

    fn pack_fixed(&self, rows: &[Row<'_>], out: &mut Vec<u32>) -> Option<u32> {
        out.resize(out.len().next_multiple_of(4), 0);
        let base = u32::try_from(out.len()).ok()?;
        let [numbers, words] = self.vectors();
        let stride = numbers + words;
        out.resize(out.len() + rows.len() * stride * 4, 0);
        let mut place = vec![0_u32; stride * 4];
        for (r, row) in rows.iter().enumerate() {
            place.fill(0);
            self.fill(r, *row, numbers, &mut place);
            for (v, vector) in place.chunks(4).enumerate() {
                let at = match self.numbers {
                    Numbers::Local => r * stride + v,
                    _ => v * rows.len() + r,
                };
                let at = base as usize + 4 * at;
                out[at..at + 4].copy_from_slice(vector);
            }
        }
        Some(base)
    }

    /// One row's vectors.
    fn fill(&self, index: usize, (entries, extras): Row<'_>, numbers: usize, place: &mut [u32]) {
        let filler = match (self.padding, self.numbers) {
            (DevicePadding::Zero, Numbers::Local) => Some(0),
            (DevicePadding::Zero, _) => Some(number(index)),
            (DevicePadding::First, _) => entries.first().copied(),
            (DevicePadding::Last, _) => entries.last().copied(),
        };
        let filled = entries
            .iter()
            .copied()
            .chain(std::iter::repeat(filler.unwrap_or(0)));
        for (i, n) in filled.enumerate().take(self.per_vector() * numbers - 1) {
            let i = i + 1;
            match self.numbers {
                Numbers::Far => place[i] = n,
                Numbers::Near => {
                    let half = distance(n, index).unwrap_or(0).cast_unsigned();
                    place[i / 2] |= u32::from(half) << (16 * (i % 2));
                }
                Numbers::Local => place[i / 2] |= (n & 0xffff) << (16 * (i % 2)),
            }
        }
        place[0] |= number(entries.len());
        let words = extras.iter().copied();
        let words = words.chain(std::iter::repeat(self.padding_word));
        for (to, extra) in place[4 * numbers..].iter_mut().zip(words) {
            *to = extra;
        }
    }

    /// Words of the entries of a group.
    fn entry_words(&self) -> usize {
        match self.numbers {
            Numbers::Far => self.group,
            Numbers::Near | Numbers::Local => self.group.div_ceil(2),
        }
    }

    /// Words of a group.
    fn group_words(&self) -> usize {
        self.entry_words() + self.extras
    }

    /// Writes rows behind what is there; gives the place of the first head. `None` where the result is too large for its own
    /// offsets.
    pub(super) fn pack(&self, rows: &[Row<'_>], out: &mut Vec<u32>) -> Option<u32> {
        if self.fixed {
            return self.pack_fixed(rows, out);
        }
        let base = u32::try_from(out.len()).ok()?;
        if self.single {
            out.extend(rows.iter().flat_map(|r| r.0));
            return Some(base);
        }
        out.resize(base as usize + rows.len(), 0);
        out.resize(out.len().next_multiple_of(BLOCK), 0);
        for (b, block) in rows.chunks(BLOCK).enumerate() {
            self.pack_block(base as usize, b * BLOCK, block, out)?;
        }
        Some(base)
    }

    fn pack_block(
        &self,
        base: usize,
        first: usize,
        block: &[Row<'_>],
        out: &mut Vec<u32>,
    ) -> Option<()> {
        let lengths = block.iter().map(|r| r.0.len());
        let longest = lengths.filter(|&n| n < LONG).max().unwrap_or(0);
        let start = out.len();
        let size = longest.div_ceil(self.group) * self.group_words() * BLOCK;
        out.resize(start + size, 0);
        for (lane, row) in block.iter().enumerate() {
            let index = first + lane;
            let n = row.0.len();
            if n >= LONG {
                out[base + index] = head(out.len(), LONG)?;
                self.pack_long(*row, out);
                continue;
            }
            out[base + index] = head(start, n)?;
            for (q, entries) in row.0.chunks(self.group).enumerate() {
                let at = start + q * self.group_words() * BLOCK + lane;
                self.put_group(at, index, entries, self.extras_of(*row, q), out);
            }
        }
        Some(())
    }

    fn extras_of<'a>(&self, row: Row<'a>, group: usize) -> &'a [u32] {
        let first = (group * self.extras).min(row.1.len());
        let end = (first + self.extras).min(row.1.len());
        &row.1[first..end]
    }

    fn put_group(&self, at: usize, index: usize, entries: &[u32], extras: &[u32], out: &mut [u32]) {
        for (j, &n) in entries.iter().enumerate() {
            let half = match self.numbers {
                Numbers::Far => {
                    out[at + j * BLOCK] = n;
                    continue;
                }
                Numbers::Near => u32::from(distance(n, index).unwrap_or(0).cast_unsigned()),
                Numbers::Local => n & 0xffff,
            };
            out[at + j / 2 * BLOCK] |= half << (16 * (j % 2));
        }
        for (x, &word) in extras.iter().enumerate() {
            out[at + (self.entry_words() + x) * BLOCK] = word;
        }
    }

    fn pack_long(&self, row: Row<'_>, out: &mut Vec<u32>) {
        out.push(u32::try_from(row.0.len()).unwrap_or(0));
        for (q, entries) in row.0.chunks(self.group).enumerate() {
            let start = out.len();
            out.resize(start + self.group + self.extras, 0);
            out[start..start + entries.len()].copy_from_slice(entries);
            let extras = self.extras_of(row, q);
            let extras_at = start + self.group;
            out[extras_at..extras_at + extras.len()].copy_from_slice(extras);
        }
        let size = out.len().next_multiple_of(BLOCK);
        out.resize(size, 0);
    }

    /// Functions that read the rows: `NAME_open(i)`, `NAME_entry(k)`, `NAME_extra(k)`, and `NAME_row`, the element whose row is open.
    /// `words` is the array, `base` where the first head is, `row` the number of the row of element `i`.
    /// `vectors` is the same array as vectors of four words.
    pub(super) fn wgsl(
        &self,
        name: &str,
        [words, vectors]: [&str; 2],
        base: &str,
        row: &str,
    ) -> String {
        let mut out = format!("var<private> {name}_row: u32;\nvar<private> {name}_count: u32;\n");
        if self.identity {
            let _ = write!(
                out,
                "fn {name}_open(i: u32) -> u32 {{ {name}_row = i; {name}_count = 1u; return 1u; }}
fn {name}_entry(k: u32) -> u32 {{ return {name}_row; }}
fn {name}_extra(k: u32) -> u32 {{ return 0u; }}
"
            );
            return out;
        }
        if self.single {
            let _ = write!(
                out,
                "fn {name}_open(i: u32) -> u32 {{ {name}_row = {row}; {name}_count = 1u; return 1u; }}
fn {name}_entry(k: u32) -> u32 {{ return {words}[{base} + {name}_row]; }}
fn {name}_extra(k: u32) -> u32 {{ return 0u; }}
"
            );
            return out;
        }
        if self.fixed {
            self.write_fixed(name, vectors, row, &mut out);
            return out;
        }
        let _ = write!(
            out,
            "var<private> {name}_at: u32;
var<private> {name}_long: bool;
var<private> {name}_word: u32;
fn {name}_open(i: u32) -> u32 {{
    let row = {row};
    {name}_row = row;
    let head = {words}[{base} + row];
    let count = head & 31u;
    let block = head & 0xffffffe0u;
"
        );
        if self.long {
            let _ = write!(
                out,
                "    {name}_long = count == 31u;
    if (count == 31u) {{ {name}_at = block + 1u; {name}_count = {words}[block]; return {name}_count; }}
"
            );
        }
        let _ = write!(
            out,
            "    {name}_at = block + (row & 31u);
    {name}_count = count;
    return count;
}}
"
        );
        self.write_entry(name, words, &mut out);
        self.write_extra(name, words, &mut out);
        out
    }

    /// Statements that bring the vectors of row `row` of a tile to where [`Self::wgsl`]'s functions find them, or to variables of
    /// another name.
    pub(super) fn fetch(&self, to: &str, vectors: &str, base: &str, row: &str) -> String {
        let stride: usize = self.vectors().iter().sum();
        let one =
            |v: usize| format!("{to}_v{v} = {vectors}[({base} >> 2u) + {row} * {stride}u + {v}u];");
        (0..stride).map(one).collect::<Vec<_>>().join(" ")
    }

    /// Number of vectors of a row where all have the same room.
    pub(super) fn fixed_vectors(&self) -> Option<usize> {
        self.fixed.then(|| self.vectors().iter().sum())
    }

    fn write_fixed(&self, name: &str, vectors: &str, row: &str, out: &mut String) {
        let [numbers, words] = self.vectors();
        let stride = numbers + words;
        for v in 0..stride {
            let _ = writeln!(out, "var<private> {name}_v{v}: vec4u;");
        }
        let mask = match self.numbers {
            Numbers::Far => "",
            Numbers::Near | Numbers::Local => " & 0xffffu",
        };
        let _ = writeln!(out, "fn {name}_open(i: u32) -> u32 {{");
        let is_local = self.numbers == Numbers::Local;
        if !is_local {
            let _ = write!(
                out,
                "    {name}_row = {row};
    {name}_v0 = {vectors}[{name}_row];
"
            );
        }
        let _ = writeln!(out, "    {name}_count = {name}_v0.x{mask};");
        for v in (1..stride).filter(|_| !is_local) {
            let at = v * self.rows;
            let load = format!("{name}_v{v} = {vectors}[{at}u + {name}_row];");
            let needed = v * self.per_vector();
            if v < numbers {
                let _ = writeln!(out, "    if ({name}_count >= {needed}u) {{ {load} }}");
            } else {
                let _ = writeln!(out, "    {load}");
            }
        }
        let _ = writeln!(out, "    return {name}_count;\n}}");
        let group = self.group;
        let index = match self.extras {
            0 => "0u".to_owned(),
            n if n == group => "k".to_owned(),
            _ => format!("k / {group}u"),
        };
        let word = word_of(name, 0, numbers, "h");
        let entry = match self.numbers {
            Numbers::Far => format!("let h = k + 1u; return {word};"),
            Numbers::Near => format!(
                "let h = (k + 1u) >> 1u; return u32(i32({name}_row) + extractBits(bitcast<i32>({word}), 16u * ((k + 1u) & 1u), 16u));"
            ),
            Numbers::Local => format!(
                "let h = (k + 1u) >> 1u; return extractBits({word}, 16u * ((k + 1u) & 1u), 16u);"
            ),
        };
        let extra = word_of(name, numbers, words, "x");
        let _ = write!(
            out,
            "fn {name}_entry(k: u32) -> u32 {{ {entry} }}
fn {name}_extra(k: u32) -> u32 {{ let x = {index}; return {extra}; }}
"
        );
    }

    /// Group and place in it of entry `k`.
    fn split(&self) -> &'static str {
        if self.group == 3 {
            "let q = k / 3u; let j = k - 3u * q;"
        } else {
            "let q = k >> 1u; let j = k & 1u;"
        }
    }

    fn write_entry(&self, name: &str, words: &str, out: &mut String) {
        let (group, group_words) = (self.group, self.group_words());
        let long_words = group + self.extras;
        let _ = write!(
            out,
            "fn {name}_entry(k: u32) -> u32 {{\n    {}\n",
            self.split()
        );
        if self.long {
            let _ = writeln!(
                out,
                "    if ({name}_long) {{ return {words}[{name}_at + q * {long_words}u + j]; }}"
            );
        }
        match self.numbers {
            Numbers::Far => {
                let _ = writeln!(
                    out,
                    "    return {words}[{name}_at + (q * {group_words}u + j) * 32u];"
                );
            }
            Numbers::Near | Numbers::Local => {
                let _ = writeln!(
                    out,
                    "    if ((j & 1u) == 0u) {{ {name}_word = {words}[{name}_at + (q * {group_words}u + (j >> 1u)) * 32u]; }}"
                );
                let value = match self.numbers {
                    Numbers::Near => format!(
                        "u32(i32({name}_row) + extractBits(bitcast<i32>({name}_word), 16u * (j & 1u), 16u))"
                    ),
                    _ => format!("extractBits({name}_word, 16u * (j & 1u), 16u)"),
                };
                let _ = writeln!(out, "    return {value};");
            }
        }
        out.push_str("}\n");
    }

    fn write_extra(&self, name: &str, words: &str, out: &mut String) {
        let (group, group_words) = (self.group, self.group_words());
        let long_words = group + self.extras;
        let place = if self.extras == group { "j" } else { "0u" };
        let _ = write!(
            out,
            "fn {name}_extra(k: u32) -> u32 {{\n    {}\n",
            self.split()
        );
        if self.extras == 0 {
            out.push_str("    return 0u;\n}\n");
            return;
        }
        if self.long {
            let _ = writeln!(
                out,
                "    if ({name}_long) {{ return {words}[{name}_at + q * {long_words}u + {group}u + {place}]; }}"
            );
        }
        let entry_words = self.entry_words();
        let _ = write!(
            out,
            "    return {words}[{name}_at + (q * {group_words}u + {entry_words}u + {place}) * 32u];\n}}\n"
        );
    }
}

/// Word `at` of `count` private vectors from `first` on: a choice that costs nothing where a compiler knows `at`.
fn word_of(name: &str, first: usize, count: usize, at: &str) -> String {
    let component = |v: usize| {
        let v = format!("{name}_v{}", first + v);
        let low = format!("select({v}.x, {v}.y, ({at} & 1u) != 0u)");
        let high = format!("select({v}.z, {v}.w, ({at} & 1u) != 0u)");
        format!("select({low}, {high}, ({at} & 2u) != 0u)")
    };
    match count {
        0 => "0u".into(),
        _ => (1..count).fold(component(0), |value, v| {
            format!("select({value}, {}, ({at} >> 2u) == {v}u)", component(v))
        }),
    }
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(0)
}

fn head(offset: usize, length: usize) -> Option<u32> {
    u32::try_from(offset | length).ok()
}

fn distance(number: u32, index: usize) -> Option<i16> {
    let index = i64::try_from(index).ok()?;
    i16::try_from(i64::from(number) - index).ok()
}

/// All rows of a relation, in memory order. `None` where they are too many.
pub(super) fn words(relation: &DeviceRelation, shape: &RowShape) -> Option<Vec<u32>> {
    let rows: Vec<Row<'_>> = (0..relation.len())
        .map(|i| (relation.row(i), relation.extras_of(i)))
        .collect();
    let mut out = Vec::new();
    shape.pack(&rows, &mut out)?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sinew_deform::DeviceDomain;

    /// Reads a row as the kernels' functions do: entries and extras.
    fn read(shape: &RowShape, words: &[u32], index: usize) -> (Vec<u32>, Vec<u32>) {
        let value = |half: u32| match shape.numbers {
            Numbers::Near => {
                let distance = i64::from((half as u16).cast_signed());
                u32::try_from(index as i64 + distance).expect("in range")
            }
            _ => half,
        };
        let mut out = (Vec::new(), Vec::new());
        if shape.single {
            return (vec![words[index]], Vec::new());
        }
        let group = shape.group;
        let extras = |n: usize| {
            if shape.extras == group {
                n
            } else {
                n.div_ceil(group) * shape.extras
            }
        };
        if shape.fixed {
            let [numbers, more] = shape.vectors();
            let word = |vector: usize, at: usize| {
                let place = match shape.numbers {
                    Numbers::Local => index * (numbers + more) + vector,
                    _ => vector * shape.rows + index,
                };
                words[place * 4 + at]
            };
            let count = match shape.numbers {
                Numbers::Far => word(0, 0) as usize,
                _ => (word(0, 0) & 0xffff) as usize,
            };
            for k in 1..=count {
                out.0.push(match shape.numbers {
                    Numbers::Far => word(k / 4, k % 4),
                    _ => value(word(k / 8, k % 8 / 2) >> (16 * (k % 2)) & 0xffff),
                });
            }
            out.1 = (0..extras(count))
                .map(|x| word(numbers + x / 4, x % 4))
                .collect();
            return out;
        }
        let (start, mut count) = ((words[index] & !31) as usize, (words[index] & 31) as usize);
        let long = count == LONG;
        let (entry_words, group_words, step, at) = if long {
            count = words[start] as usize;
            (group, group + shape.extras, 1, start + 1)
        } else {
            (
                shape.entry_words(),
                shape.group_words(),
                BLOCK,
                start + index % BLOCK,
            )
        };
        for k in 0..count {
            let (q, j) = (k / group, k % group);
            let word = |w: usize| words[at + (q * group_words + w) * step];
            out.0.push(if long || shape.numbers == Numbers::Far {
                word(j)
            } else {
                value(word(j / 2) >> (16 * (j % 2)) & 0xffff)
            });
        }
        out.1 = (0..extras(count))
            .map(|x| {
                let (q, j) = (x / shape.extras, x % shape.extras);
                words[at + (q * group_words + entry_words + j) * step]
            })
            .collect();
        out
    }

    proptest! {
        #[test]
        fn every_row_reads_back(
            lengths in prop::collection::vec(0_usize..13, 1..100),
            long in prop::option::of(33_usize..60),
            far in prop::bool::ANY,
            three in prop::bool::ANY,
            extras in 0..3_u8,
            simple in prop::bool::ANY,
        ) {
            let group = if three { 3 } else { 2 };
            let mut lengths = lengths;
            lengths.extend(long);
            if extras == 1 || three {
                lengths.iter_mut().for_each(|n| *n = n.next_multiple_of(group));
            }
            let most = if far { 1 << 20 } else { 1 << 14 };
            let rows: Vec<Vec<u32>> = lengths.iter().enumerate()
                .map(|(i, &n)| (0..n).map(|k| ((i * 7919 + k * 104_729) % most) as u32).collect())
                .collect();
            let mut relation = DeviceRelation::new("ring", [DeviceDomain::Vertices; 2], &rows);
            relation.group = group as u32;
            let word = |i: usize| 0x9e37_79b9_u32.wrapping_mul(i as u32 + 1);
            relation.extras = match extras {
                1 => DeviceExtras::PerGroup((0..relation.entries.len() / group).map(word).collect()),
                2 if !three => DeviceExtras::PerEntry((0..relation.entries.len()).map(word).collect()),
                _ => DeviceExtras::None,
            };
            let shape = RowShape::of(&relation, simple);
            let packed = words(&relation, &shape).expect("small");
            for i in 0..relation.len() {
                let (entries, extras) = read(&shape, &packed, i);
                prop_assert_eq!(&entries[..], relation.row(i));
                prop_assert_eq!(&extras[..], relation.extras_of(i));
            }
            if !far {
                let local = shape.local();
                let rows: Vec<Row<'_>> =
                    (0..relation.len()).map(|i| (relation.row(i), relation.extras_of(i))).collect();
                let mut packed = Vec::new();
                prop_assert_eq!(local.pack(&rows, &mut packed), Some(0));
                for (i, row) in rows.iter().enumerate() {
                    let (entries, extras) = read(&local, &packed, i);
                    prop_assert_eq!(&entries[..], row.0);
                    prop_assert_eq!(&extras[..], row.1);
                }
            }
        }
    }

    #[test]
    fn near_neighbours_take_half_the_words() {
        let relation = |step: u32| {
            let rows: Vec<Vec<u32>> = (0..64_u32)
                .map(|i| (0..5).map(|k| i + k * step).collect())
                .collect();
            DeviceRelation::new("ring", [DeviceDomain::Vertices; 2], &rows)
        };
        let size = |step, simple| {
            let relation = relation(step);
            let shape = RowShape::of(&relation, simple);
            words(&relation, &shape).expect("small").len()
        };
        assert_eq!(size(1, false), 64 * 4);
        assert_eq!(size(100_000, false), 64 * 8);
        assert_eq!(size(1, true), 64 + 64 * 3);
        assert_eq!(size(100_000, true), 64 + 64 * 6);
    }
}
