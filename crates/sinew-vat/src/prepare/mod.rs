//! What is done to each frame by itself before anything is written.
