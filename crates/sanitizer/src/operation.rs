//! What was queued: an operation of a stream, or something that the host or the allocator does.
#![forbid(unsafe_code)]

use crate::clock::Lane;
use crate::site::Site;

/// An operation, as reports name it.
#[derive(Debug)]
pub(crate) struct Operation {
    /// Its place among all operations, from 1 on.
    pub(crate) number: u64,
    /// What it is, such as `copy` or the name of a kernel.
    pub(crate) name: String,
    pub(crate) lane: Lane,
    pub(crate) site: Site,
}

impl Operation {
    /// Whether two are one operation, whose accesses do not conflict with each other.
    pub(crate) fn same_as(&self, other: &Operation) -> bool {
        self.number == other.number
    }
}
