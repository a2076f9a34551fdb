{{#HAS_LOOKUP}}
// Points have texels, each once a frame. The lookup texture has a texel for each vertex, which is a corner of a triangle, in each frame: red, green and
// blue are the number of the point that the vertex shows, the lowest eight bits in red. It is found by vat_texel, the point by vat_point_texel.

const VAT_POINT_COLUMNS = {{POINT_COLUMNS}}u;
const VAT_POINT_ACROSS = {{POINT_ACROSS}}u;
const VAT_POINT_FRAME_ROWS = {{POINT_FRAME_ROWS}}u;
const VAT_POINT_LINE_ROWS = {{POINT_LINE_ROWS}}u;

@group(1) @binding(8) var vat_lookup_texture: texture_2d<f32>;

// Column and row, in the textures of points, of what a vertex shows in a frame.
fn vat_point_texel(vertex: u32, frame: u32) -> vec2<u32> {
    let stored = textureLoad(vat_lookup_texture, vat_texel(vertex, frame), 0).xyz;
    let codes = vec3<u32>(round(stored * 255.0));
    let point = codes.x | (codes.y << 8u) | (codes.z << 16u);
    return vec2<u32>(
        (frame % VAT_POINT_ACROSS) * VAT_POINT_COLUMNS + point % VAT_POINT_COLUMNS,
        (frame / VAT_POINT_ACROSS) * VAT_POINT_FRAME_ROWS + (point / VAT_POINT_COLUMNS) * VAT_POINT_LINE_ROWS,
    );
}

{{/HAS_LOOKUP}}
