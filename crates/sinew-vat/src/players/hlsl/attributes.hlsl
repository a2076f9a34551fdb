{{*ATTRIBUTE}}
{{ATTRIBUTE_HLSL}} Vat{{ATTRIBUTE_PASCAL}}In({{ATTRIBUTE_PARAMETERS}}, int3 texel)
{
    {{ATTRIBUTE_HLSL}} stored = {{ATTRIBUTE_CAMEL}}.Load(texel){{ATTRIBUTE_SWIZZLE}};
{{?ATTRIBUTE_IN_TWO}}    stored += 0.01 * {{ATTRIBUTE_CAMEL}}Fine.Load(texel){{ATTRIBUTE_SWIZZLE}};
    return stored * {{ATTRIBUTE_HLSL}}({{ATTRIBUTE_SCALE}}) + {{ATTRIBUTE_HLSL}}({{ATTRIBUTE_OFFSET}});
}

// Of a vertex (or a particle): {{ATTRIBUTE_HOLDS}}.
{{ATTRIBUTE_HLSL}} Vat{{ATTRIBUTE_PASCAL}}({{LOOKUP_PARAMETER}}{{ATTRIBUTE_PARAMETERS}}, uint number, VatFrame at)
{
    {{ATTRIBUTE_HLSL}} value = Vat{{ATTRIBUTE_PASCAL}}In({{ATTRIBUTE_ARGUMENTS}}, {{TEXEL_IN_HLSL}}number, at.frame));
{{?CAN_BLEND}}    if (at.weight > 0.0)
{{?CAN_BLEND}}    {
{{?CAN_BLEND}}        value += (Vat{{ATTRIBUTE_PASCAL}}In({{ATTRIBUTE_ARGUMENTS}}, {{TEXEL_IN_HLSL}}number, at.next)) - value) * at.weight;
{{?CAN_BLEND}}    }
{{?IS_TANGENT}}    float lengthSquared = max(dot(value.xyz, value.xyz), 1e-12);
{{?IS_TANGENT}}    value = float4(value.xyz * rsqrt(lengthSquared), value.w < 0.0 ? -1.0 : 1.0);
{{?TURNS_V}}    value.y = 1.0 - value.y;
    return value;
}

{{/ATTRIBUTE}}
