//! Suggestions for unknown names.

use crate::tokens;

/// Words of other shading languages and what WGSL has instead.
const FOREIGN: [(&str, &str); 38] = [
    ("float", "f32"),
    ("double", "f32"),
    ("half", "f16"),
    ("int", "i32"),
    ("uint", "u32"),
    ("float2", "vec2f"),
    ("float3", "vec3f"),
    ("float4", "vec4f"),
    ("vec2", "vec2f"),
    ("vec3", "vec3f"),
    ("vec4", "vec4f"),
    ("int2", "vec2i"),
    ("int3", "vec3i"),
    ("int4", "vec4i"),
    ("ivec2", "vec2i"),
    ("ivec3", "vec3i"),
    ("ivec4", "vec4i"),
    ("uint2", "vec2u"),
    ("uint3", "vec3u"),
    ("uint4", "vec4u"),
    ("uvec2", "vec2u"),
    ("uvec3", "vec3u"),
    ("uvec4", "vec4u"),
    ("float3x3", "mat3x3f"),
    ("float4x4", "mat4x4f"),
    ("mat3", "mat3x3f"),
    ("mat4", "mat4x4f"),
    ("lerp", "mix"),
    ("frac", "fract"),
    ("rsqrt", "inverseSqrt"),
    ("inversesqrt", "inverseSqrt"),
    ("mad", "fma"),
    ("asuint", "bitcast<u32>"),
    ("asint", "bitcast<i32>"),
    ("asfloat", "bitcast<f32>"),
    ("InterlockedAdd", "atomicAdd"),
    ("InterlockedMin", "atomicMin"),
    ("InterlockedMax", "atomicMax"),
];

/// What WGSL has for a word of HLSL or GLSL.
pub(crate) fn foreign(word: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(w, _)| *w == word).map(|(_, to)| *to)
}

/// What begins declarations of HLSL that are no part of a kernel's text here, and where they are.
pub(crate) fn elsewhere(word: &str) -> Option<&'static str> {
    Some(match word {
        "cbuffer" => "its members are parameters of the node, read as `height()`",
        "static" => "in WGSL it is `const NAME = VALUE;`",
        "StructuredBuffer" | "RWStructuredBuffer" | "Texture2D" => {
            "it is an input of the node, read by `read_NAME(i)`"
        }
        _ => return None,
    })
}

/// Help for an unknown name: `mine` are the names that the text may use beside WGSL's own.
pub(crate) fn suggestion<'a>(word: &str, mine: impl Iterator<Item = &'a str>) -> Option<String> {
    match word {
        "mul" => return Some("WGSL multiplies matrices with `*`".to_owned()),
        "id" | "gl_GlobalInvocationID" | "SV_DispatchThreadID" => {
            return Some("the index of the element is `index`".to_owned());
        }
        "mod" | "fmod" => return Some("WGSL has the operator `%`".to_owned()),
        _ => {}
    }
    let builtin = naga::keywords::wgsl::BUILTIN_IDENTIFIERS.iter().copied();
    if let Some(to) = foreign(word) {
        return Some(format!("WGSL has `{to}`"));
    }
    closest(word, mine.filter(|m| *m != word).chain(builtin))
        .map(|near| format!("did you mean `{near}`?"))
}

/// The word of `known` that is most like `given`, where one is close; of equals the first.
pub(crate) fn closest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|k| (edit_distance(given, k), k))
        .filter(|(d, k)| *d <= (k.len().min(given.len()) / 3).max(1))
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

fn edit_distance(a: &str, b: &str) -> usize {
    // Long words are never close; the bound keeps hostile texts cheap.
    if a.len().abs_diff(b.len()) > 8 || a.len() > 64 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Whether WGSL reserves the word for later.
pub(crate) fn is_reserved(word: &str) -> bool {
    !tokens::KEYWORDS.contains(&word) && naga::keywords::wgsl::RESERVED.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_and_words_of_other_languages_are_found() {
        let mine = ["read_position", "weight"];
        let suggest = |word| suggestion(word, mine.into_iter());
        assert_eq!(
            suggest("read_positon").unwrap(),
            "did you mean `read_position`?"
        );
        assert_eq!(suggest("lerp").unwrap(), "WGSL has `mix`");
        assert_eq!(suggest("normalise").unwrap(), "did you mean `normalize`?");
        assert_eq!(suggest("zebra_crossing"), None);
        assert_eq!(suggest(&"x".repeat(100_000)), None);
    }

    #[test]
    fn reserved_words_are_no_keywords() {
        assert!(is_reserved("class"));
        assert!(!is_reserved("let"));
        assert!(!is_reserved("position"));
    }
}
