//! What processes share, and the handles that lead to it.
//!
//! | file | idea |
//! |---|---|
//! | `event_page` | an event's newest record and its pending records, in a page that processes map |
//! | `handle` | handles that lead to another process's memory and events |
//! | `board` | the page of a communicator, on which its ranks show how far they are |
//! | `rank` | a rank of a communicator: its place on the board, its messages, its waits |

pub(super) mod board;
pub(super) mod event_page;
pub(super) mod handle;
pub(super) mod rank;
