
// Points have texels, each once a frame. The lookup texture has a texel for each vertex, which is a corner of a triangle, in each frame: red, green and
// blue are the number of the point that the vertex shows, the lowest eight bits in red. It is found by VatTexel, the point by VatPointTexel.
int3 VatLookup(Texture2D<float4> lookup, uint vertex, uint frame)
{
    uint3 codes = (uint3)(lookup.Load(VatTexel(vertex, frame)).xyz * 255.0 + 0.5);
    return VatPointTexel(codes.x | (codes.y << 8u) | (codes.z << 16u), frame);
}

{{/HAS_LOOKUP}}
