//! Where memory comes from.
//!
//! | file | idea |
//! |---|---|
//! | `uncached` | the mode without caching: every allocation and free is the driver's |

pub(super) mod uncached;
