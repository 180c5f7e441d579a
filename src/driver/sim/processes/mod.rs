//! What processes share of interprocess events.
//!
//! | file | idea |
//! |---|---|
//! | `event_page` | an event's newest record and its pending records, in a page that processes map |

pub(super) mod event_page;
