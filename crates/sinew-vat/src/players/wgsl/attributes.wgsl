{{*ATTRIBUTE}}
@group(1) @binding({{ATTRIBUTE_BINDING}}) var vat_{{ATTRIBUTE}}_texture: texture_2d<f32>;
{{?ATTRIBUTE_IN_TWO}}@group(1) @binding({{ATTRIBUTE_FINE_BINDING}}) var vat_{{ATTRIBUTE}}_fine_texture: texture_2d<f32>;

fn vat_{{ATTRIBUTE}}_in(texel: vec2<u32>) -> {{ATTRIBUTE_WGSL}} {
{{!ATTRIBUTE_IN_TWO}}    let stored = textureLoad(vat_{{ATTRIBUTE}}_texture, texel, 0){{ATTRIBUTE_SWIZZLE}};
{{?ATTRIBUTE_IN_TWO}}    let coarse = textureLoad(vat_{{ATTRIBUTE}}_texture, texel, 0){{ATTRIBUTE_SWIZZLE}};
{{?ATTRIBUTE_IN_TWO}}    let stored = coarse + 0.01 * textureLoad(vat_{{ATTRIBUTE}}_fine_texture, texel, 0){{ATTRIBUTE_SWIZZLE}};
    return stored * {{ATTRIBUTE_WGSL}}({{ATTRIBUTE_SCALE}}) + {{ATTRIBUTE_WGSL}}({{ATTRIBUTE_OFFSET}});
}

// Of a vertex: {{ATTRIBUTE_HOLDS}}.
fn vat_{{ATTRIBUTE}}(vertex: u32, at: VatFrame) -> {{ATTRIBUTE_WGSL}} {
    var value = vat_{{ATTRIBUTE}}_in({{TEXEL_IN_WGSL}}({{ATTRIBUTE_NUMBER}}, at.frame));
{{?CAN_BLEND}}    if at.weight > 0.0 {
{{?CAN_BLEND}}        value += (vat_{{ATTRIBUTE}}_in({{TEXEL_IN_WGSL}}({{ATTRIBUTE_NUMBER}}, at.next)) - value) * at.weight;
{{?CAN_BLEND}}    }
{{?IS_TANGENT}}    let length_squared = max(dot(value.xyz, value.xyz), 1e-12);
{{?IS_TANGENT}}    value = vec4<f32>(value.xyz * inverseSqrt(length_squared), select(1.0, -1.0, value.w < 0.0));
    return value;
}

{{/ATTRIBUTE}}
