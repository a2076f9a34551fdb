//! Vertex animation textures of whole sequences.

mod sequences;
