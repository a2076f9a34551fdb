// The joints that a vertex follows, strongest first, and how much; past the last one the first with weight 0.
struct Row {
    joints: vec4u,
    weights: vec4f,
    // Where its further joints stand: from, to.
    more: vec2u,
}
