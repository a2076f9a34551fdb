//! Part of Sinew.
