//! Data structures that several crates use.
//!
//! | file | idea |
//! |---|---|
//! | `handle_kind` | what kind of object a handle names |
//! | `slab` | opaque handles that survive misuse |
//! | `pool` | places that are used again and again, some kept for each thread |
//! | `lru/` | a least-recently-used map with a limit in number and one in cost |
//! | `treap` | ordered sets whose links lie in the records of a table |
//! | `filled_bins` | which bins of an allocator are not empty |
//! | `word_hash` | a hash of a few words, for keys that no attacker chooses |
//! | `per_device` | a value for each device |

pub mod filled_bins;
pub mod handle_kind;
pub mod lru;
pub mod per_device;
pub mod pool;
pub mod slab;
pub mod treap;
pub mod word_hash;
