// Position of a vertex in the space of the mesh; `carrier` is the position that the mesh has there. Reads two texels, four where frames are blended.
float3 VatPosition(Texture2D<float4> lookup, {{PLACE_PARAMETERS}}, uint vertex, VatFrame at, float3 carrier)
{
    float3 result = VatPlaceIn({{PLACE_ARGUMENTS}}, VatLookup(lookup, vertex, at.frame));
{{?CAN_BLEND}}    if (at.weight > 0.0)
{{?CAN_BLEND}}    {
{{?CAN_BLEND}}        result += (VatPlaceIn({{PLACE_ARGUMENTS}}, VatLookup(lookup, vertex, at.next)) - result) * at.weight;
{{?CAN_BLEND}}    }
    return result;
}
{{#HAS_NORMAL}}

float3 VatNormalIn({{NORMAL_PARAMETERS}}, int3 texel)
{
    float3 stored = normals.Load(texel).xyz;
{{?NORMAL_IN_TWO}}    stored += 0.01 * normalsFine.Load(texel).xyz;
    return stored * float3({{NORMAL_SCALE}}) + float3({{NORMAL_OFFSET}});
}

// Unit normal of a vertex; `carrier` is the normal that the mesh has there.
float3 VatNormal(Texture2D<float4> lookup, {{NORMAL_PARAMETERS}}, uint vertex, VatFrame at, float3 carrier)
{
    float3 normal = VatNormalIn({{NORMAL_ARGUMENTS}}, VatLookup(lookup, vertex, at.frame));
{{?CAN_BLEND}}    if (at.weight > 0.0)
{{?CAN_BLEND}}    {
{{?CAN_BLEND}}        normal += (VatNormalIn({{NORMAL_ARGUMENTS}}, VatLookup(lookup, vertex, at.next)) - normal) * at.weight;
{{?CAN_BLEND}}    }
    float lengthSquared = dot(normal, normal);
    return lengthSquared < 1e-12 ? carrier : normal * rsqrt(lengthSquared);
}
{{/HAS_NORMAL}}
