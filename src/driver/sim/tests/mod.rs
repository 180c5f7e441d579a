//! Whole-simulator tests, a file a subject.
