// Lines that the host has drawn: ten numbers each.
fn kernel(index: u32) {
    let first = 10u * index;
    let start = vec3f(read_lines(first), read_lines(first + 1u), read_lines(first + 2u));
    let end = vec3f(read_lines(first + 3u), read_lines(first + 4u), read_lines(first + 5u));
    let color = vec4f(read_lines(first + 6u), read_lines(first + 7u), read_lines(first + 8u), read_lines(first + 9u));
    write_debug(index, start, end, color);
}
