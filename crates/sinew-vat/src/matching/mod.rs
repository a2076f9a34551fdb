//! Which triangle of the next frame a triangle becomes.
