//! Mutations that keep the structure of a JSON document, so that they get past the parser.

use serde_json::Value;

/// A small generator of numbers; libFuzzer hands in the seed.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// From the seed of a mutation.
    pub fn new(seed: u32) -> Self {
        Self(u64::from(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `n`, which must not be zero.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }
}

/// Numbers at the edges of what readers take.
const EDGES: [&str; 26] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "12",
    "16",
    "255",
    "256",
    "65535",
    "65536",
    "4194304",
    "4194305",
    "16777216",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "18446744073709551615",
    "-1",
    "-0.0",
    "0.5",
    "1e-38",
    "3.4e38",
    "1e300",
];

/// Changes one place of the document.
pub fn json(root: &mut Value, random: &mut Random) {
    let mut places = Vec::new();
    collect(root, &mut String::new(), &mut places);
    if places.is_empty() {
        return;
    }
    let place = places[random.below(places.len())].clone();
    let other = places[random.below(places.len())].clone();
    let other = root.pointer(&other).cloned().unwrap_or_default();
    let Some(value) = root.pointer_mut(&place) else {
        return;
    };
    match random.below(8) {
        // Another value of the document: indices become other indices, links other links.
        0 => *value = other,
        1 => same_sort(value, &other),
        2 => *value = number(random),
        3 => nudge(value, random),
        4 => remove(value, random),
        5 => repeat(value, random),
        6 => swap(value, random),
        _ if value.is_number() => *value = number(random),
        _ => nudge(value, random),
    }
}

fn collect(value: &Value, path: &mut String, out: &mut Vec<String>) {
    // Deeper documents than that are for the byte mutations.
    if path.len() > 2000 || out.len() > 50_000 {
        return;
    }
    out.push(path.clone());
    let length = path.len();
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                path.push_str(&format!("/{i}"));
                collect(item, path, out);
                path.truncate(length);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                path.push_str(&format!("/{escaped}"));
                collect(member, path, out);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

fn number(random: &mut Random) -> Value {
    let text = EDGES[random.below(EDGES.len())];
    serde_json::from_str(text).unwrap_or_default()
}

fn same_sort(value: &mut Value, other: &Value) {
    if std::mem::discriminant(value) == std::mem::discriminant(other) {
        *value = other.clone();
    }
}

fn nudge(value: &mut Value, random: &mut Random) {
    match value {
        Value::Number(n) => {
            let step = [1, 2, 3, 4, 8][random.below(5)];
            if let Some(v) = n.as_u64() {
                *value = if random.below(2) == 0 {
                    v.wrapping_add(step).into()
                } else {
                    v.saturating_sub(step).into()
                };
            } else if let Some(v) = n.as_f64() {
                *value = (v * 2.0 + 1.0).into();
            }
        }
        Value::Bool(b) => *b = !*b,
        Value::String(s) => {
            if random.below(2) == 0 {
                s.pop();
            } else {
                s.push('1');
            }
        }
        _ => remove(value, random),
    }
}

fn remove(value: &mut Value, random: &mut Random) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            items.remove(random.below(items.len()));
        }
        Value::Object(members) if !members.is_empty() => {
            let key = members.keys().nth(random.below(members.len())).cloned();
            if let Some(key) = key {
                members.shift_remove(&key);
            }
        }
        _ => {}
    }
}

fn repeat(value: &mut Value, random: &mut Random) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let item = items[random.below(items.len())].clone();
            // Now and then very often: what grows with the square of a count shows up.
            let times = [1, 1, 1, 1, 2, 2, 8, 64, 512, 4096][random.below(10)];
            items.extend(std::iter::repeat_n(item, times));
        }
        Value::Object(members) if !members.is_empty() => {
            let index = random.below(members.len());
            let times = [1, 1, 1, 1, 1, 2, 8, 512][random.below(8)];
            let found = members.iter().nth(index);
            if let Some((key, member)) = found.map(|(k, m)| (k.clone(), m.clone())) {
                for i in 0..times {
                    members.insert(format!("{key}_{i}"), member.clone());
                }
            }
        }
        _ => {}
    }
}

fn swap(value: &mut Value, random: &mut Random) {
    if let Value::Array(items) = value
        && items.len() > 1
    {
        let (a, b) = (random.below(items.len()), random.below(items.len()));
        items.swap(a, b);
    }
}

/// A GLB file: document and binary part.
#[derive(Debug)]
pub struct Glb {
    /// Text of the JSON chunk.
    pub json: Vec<u8>,
    /// The BIN chunk.
    pub bin: Option<Vec<u8>>,
}

impl Glb {
    /// Takes a file apart; `None` where it is none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        if bytes.get(..4)? != b"glTF" || word(16)? != 0x4E4F_534A {
            return None;
        }
        let end = 20 + word(12)? as usize;
        let json = bytes.get(20..end)?.to_vec();
        let bin = word(end)
            .filter(|_| word(end + 4) == Some(0x004E_4942))
            .and_then(|n| bytes.get(end + 8..end + 8 + n as usize))
            .map(<[u8]>::to_vec);
        Some(Self { json, bin })
    }

    /// Puts the parts together with right lengths.
    pub fn bytes(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        json.resize(json.len().next_multiple_of(4), b' ');
        let bin = self.bin.as_ref().map(|b| {
            let mut b = b.clone();
            b.resize(b.len().next_multiple_of(4), 0);
            b
        });
        let total = 20 + json.len() + bin.as_ref().map_or(0, |b| 8 + b.len());
        let mut out = Vec::with_capacity(total);
        out.extend_from_slice(b"glTF");
        for word in [2, total as u32, json.len() as u32, 0x4E4F_534A] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&json);
        if let Some(bin) = bin {
            out.extend_from_slice(&(bin.len() as u32).to_le_bytes());
            out.extend_from_slice(&0x004E_4942_u32.to_le_bytes());
            out.extend_from_slice(&bin);
        }
        out
    }
}

/// Lets `change` (libFuzzer's own mutations) work on a part of an input, in a buffer of `room` bytes.
pub fn part(
    bytes: &[u8],
    room: usize,
    change: impl Fn(&mut [u8], usize, usize) -> usize,
) -> Vec<u8> {
    let room = room.max(bytes.len()).max(1);
    let mut buffer = bytes.to_vec();
    buffer.resize(room, 0);
    let size = change(&mut buffer, bytes.len(), room);
    buffer.truncate(size);
    buffer
}

/// Copies a mutated input over `data` where it fits; returns its size, or `None` where it does not fit.
pub fn store(data: &mut [u8], max_size: usize, new: &[u8]) -> Option<usize> {
    if new.len() > max_size {
        return None;
    }
    data[..new.len()].copy_from_slice(new);
    Some(new.len())
}
