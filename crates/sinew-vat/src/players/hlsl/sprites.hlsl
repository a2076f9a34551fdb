
// A texel is a particle. The mesh has a square for each; texture coordinates 0 say which corner a vertex is, texture
// coordinates {{UV_SET}} point at the particle's texel in the first frame (VatVertexByUv gives its number).

// Width of a particle; zero where there is none.
float VatSizeIn({{SIZE_PARAMETERS}}, int3 texel)
{
    float stored = sizes.Load(texel).x;
{{?SIZE_IN_TWO}}    stored += 0.01 * sizesFine.Load(texel).x;
    return stored * {{SIZE_SCALE}} + {{SIZE_OFFSET}};
}

// Position of a vertex in the space of the mesh. `right` and `up` are unit vectors in that space along which squares are drawn: those of
// the camera, or others. `corner` is 0 or 1 along each.
float3 VatPosition({{PLACE_PARAMETERS}}, {{SIZE_PARAMETERS}}, uint particle, VatFrame at, float2 corner, float3 right, float3 up)
{
    int3 texel = VatTexel(particle, at.frame);
    float3 result = VatPlaceIn({{PLACE_ARGUMENTS}}, texel);
    float size = VatSizeIn({{SIZE_ARGUMENTS}}, texel);
{{?CAN_BLEND}}    if (at.weight > 0.0)
{{?CAN_BLEND}}    {
{{?CAN_BLEND}}        int3 next = VatTexel(particle, at.next);
{{?CAN_BLEND}}        result += (VatPlaceIn({{PLACE_ARGUMENTS}}, next) - result) * at.weight;
{{?CAN_BLEND}}        size += (VatSizeIn({{SIZE_ARGUMENTS}}, next) - size) * at.weight;
{{?CAN_BLEND}}    }
    float2 fromMiddle = (corner - 0.5) * size;
    return result + right * fromMiddle.x + up * fromMiddle.y;
}
