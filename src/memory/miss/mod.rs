//! What happens when no free block fits a request.
//!
//! | step | file | idea |
//! |---|---|---|
//! | all | `steps` | one step after the other, until memory is found or refused |
//! | 1 | `collect` | old segments go back to the driver, if a threshold is set |
//! | 2 | `release` | segments without live blocks go back to the driver |
//! | 3 | `reclaim` | other rooms give up what they keep |
//! | 4 | `out_of_memory` | the message and the figures of a failure |
//! | 5 | `observers` | functions that are called when memory has run out |

pub(super) mod collect;
pub mod observers;
pub(super) mod out_of_memory;
pub(crate) mod reclaim;
pub(super) mod release;
pub(super) mod steps;
