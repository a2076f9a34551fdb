// Rows of numbers, packed by `device_rows.rs`. An array starts with one head for each element.

// A row of this length lies alone at its start: its true length, then its entries one after another.
const LONG_ROW = 31u;
// Words from one entry to the next: the entries of 32 elements lie together.
const ROW_STRIDE = 32u;

fn row_length(head: u32) -> u32 {
    return head & 31u;
}

// Where the block (or the long row) of a head starts.
fn row_block(head: u32) -> u32 {
    return head & 0xffffffe0u;
}

// First entry of an element in its block.
fn row_start(head: u32, index: u32) -> u32 {
    return row_block(head) + (index & 31u);
}

// The two numbers of a word that holds signed distances from `index`.
fn near_low(word: u32, index: u32) -> u32 {
    return u32(i32(index) + extractBits(bitcast<i32>(word), 0u, 16u));
}
fn near_high(word: u32, index: u32) -> u32 {
    return u32(i32(index) + extractBits(bitcast<i32>(word), 16u, 16u));
}
