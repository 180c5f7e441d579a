//! What processes share, and the handles that lead to it.
//!
//! | file | idea |
//! |---|---|
//! | `event_page` | an event's newest record and its pending records, in a page that processes map |
//! | `handle` | handles that lead to another process's memory and events |

pub(super) mod event_page;
pub(super) mod handle;
