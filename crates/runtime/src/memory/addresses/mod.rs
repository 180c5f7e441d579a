//! From an address to the live block that begins there.
//!
//! | file | idea |
//! |---|---|
//! | `entry` | one word of the address map: what it says of a live block |
//! | `address_map` | the radix tree over addresses |
//! | `block_numbers` | ids of blocks that are unique in the process |
//! | `block_ref` | a live block that was found, and whether it is still live |

pub(super) mod address_map;
pub(super) mod block_numbers;
pub(super) mod block_ref;
pub(super) mod entry;
