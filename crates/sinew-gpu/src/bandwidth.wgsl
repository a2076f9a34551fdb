// Copies one vec4 an invocation.

@group(0) @binding(0) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> target_elements: array<vec4<f32>>;

@compute @workgroup_size(256)
fn copy(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let i = id.x + id.y * groups.x * 256u;
    if i >= arrayLength(&source) {
        return;
    }
    target_elements[i] = source[i];
}
