// Number `index` of those that stand `per_word` to a word, the first in the lowest bits; `word` is word `index / per_word`.
fn unpacked(word: u32, index: u32, per_word: u32) -> u32 {
    let bits = 32u / per_word;
    return extractBits(word, (index % per_word) * bits, bits);
}
