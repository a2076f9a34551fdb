// Repeats a value of `value_words` words over a buffer.

struct Fill {
    words: u32,
    value_words: u32,
    value: array<u32>,
}

@group(0) @binding(0) var<storage, read> source: Fill;
@group(0) @binding(1) var<storage, read_write> target_words: array<u32>;

@compute @workgroup_size(256)
fn fill(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let i = id.x + id.y * groups.x * 256u;
    if i >= source.words {
        return;
    }
    target_words[i] = source.value[i % source.value_words];
}
