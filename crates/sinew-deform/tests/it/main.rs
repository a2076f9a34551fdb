//! The nodes beside what other programs compute.

mod golden;
