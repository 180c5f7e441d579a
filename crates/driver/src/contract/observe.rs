//! Reports of the allocator to the driver: which parts of its memory are in use, and by which streams.
//!
//! A driver sees large allocations, not the blocks that the caching allocator makes of them. These
//! methods tell it. They do nothing by default. Those that concern blocks are called only if
//! [`Observe::observes_blocks`] returns true.
//!
//! | method | when it is called | blocks? |
//! |---|---|---|
//! | `observes_blocks` | when a stream gets its first memory | no |
//! | `block_handed_out` | a block becomes a caller's, before the caller sees the address | no |
//! | `block_used` | a stream other than the block's own is recorded as using a live block | no |
//! | `block_taken_back` | a caller has freed the block; the allocator may still wait for recorded streams before it hands the block out again | no |
//! | `block_unused` | no stream uses the freed block any more: whatever is queued on its stream from now on may write it | no |
//! | `quarantine_ended` | the freed block is no longer kept from being handed out (`quarantine_bytes`), and nothing has used it meanwhile | no |
//! | `host_block_handed_out` | a block of page-locked memory becomes a caller's, before the caller sees the address | yes |
//! | `host_block_used` | a stream is recorded as using a live block of page-locked memory, by the program or by a copy | yes |
//! | `host_block_taken_back` | a caller frees a block of page-locked memory | yes |
//! | `memory_sleeps` | a mapping was undone whose addresses stay those of a pool that is asleep | no |
//! | `memory_wakes` | something is mapped there again, or the addresses are the pool's no more | no |
//! | `moves_memory` | the calling thread begins to copy whole pages of the allocator, whatever they hold; what it returns is dropped behind the last copy | no |
//! | `needs_no_contents` | work of the library is about to read memory, and needs nothing of what it holds | no |
//! | `address_passed` | a program has passed an address as memory, and the driver knows no memory there; a refusal becomes that of the call | no |
//! | `host_used` | the processor has read or written memory of a tensor; only if `observes_host` returns true | no |
//! | `asks_for_itself` | the calling thread begins to ask, or to wait, for the library's own sake, such as for memory that it may hand out again: the program learns nothing by it; what it returns is dropped when the thread asks no more | no |
//! | `host_waits_for` | a thread begins to ask again and again whether an event is done; what it returns is dropped when the thread asks no more | no |
//!
//! For one block the calls come in this order: handed out, any number of uses, taken back, unused. Reports of
//! different blocks may come from several threads at once. The allocator's locks are held, so a method must
//! not call the library.
//!
//! A report changes nothing that the other methods of the driver do. It makes no context. A backend queues no work for
//! it, and neither reads nor writes the block; the sanitizer fills memory around blocks that are handed out, and freed
//! blocks, on the block's stream.
//!
//! Two more methods ask for room: `guard_bytes`, how many bytes follow each block that are nobody's, and
//! `quarantine_bytes`, how many bytes of freed blocks of a stream are kept from being handed out again. They are
//! called when a stream gets its first memory, and always say the same.

use std::any::Any;

use sconce_base::error::Result;
use sconce_base::types::DevicePtr;

use super::{EventHandle, StreamRef};

/// Elements of a tensor in host memory.
#[derive(Clone, Copy, Debug)]
pub struct HostElements<'a> {
    /// The address of the first one.
    pub address: usize,
    /// Bytes of each.
    pub element: usize,
    /// How many there are along each axis.
    pub sizes: &'a [i64],
    /// Elements from one to the next along each axis.
    pub strides: &'a [i64],
}

/// A backend that follows the allocator's blocks.
pub trait Observe: Send + Sync {
    /// Whether the methods below are to be called.
    fn observes_blocks(&self) -> bool {
        false
    }
    /// A block of `bytes` became a caller's, for work on `stream`.
    fn block_handed_out(&self, _stream: StreamRef, _block: DevicePtr, _bytes: usize) {}
    /// `stream`, which is not the block's own, uses a live block.
    fn block_used(&self, _stream: StreamRef, _block: DevicePtr) {}
    /// A caller has freed a block of `stream`.
    fn block_taken_back(&self, _stream: StreamRef, _block: DevicePtr) {}
    /// Nothing uses a freed block of `bytes` of `stream` any more.
    fn block_unused(&self, _stream: StreamRef, _block: DevicePtr, _bytes: usize) {}
    /// A block of page-locked memory became a caller's.
    fn host_block_handed_out(&self, _address: usize, _bytes: usize) {}
    /// `stream` uses a live block of page-locked memory that holds an address.
    fn host_block_used(&self, _stream: StreamRef, _address: usize) {}
    /// A caller frees a block of page-locked memory.
    fn host_block_taken_back(&self, _address: usize) {}
    /// A freed block of `stream` may be handed out again from now on.
    fn quarantine_ended(&self, _stream: StreamRef, _block: DevicePtr) {}
    /// Bytes behind each block that no caller may use.
    fn guard_bytes(&self) -> usize {
        0
    }
    /// Bytes of freed blocks of each stream that are not handed out again, unless memory is missing.
    fn quarantine_bytes(&self) -> usize {
        0
    }
    /// So many bytes from an address on are asleep, with the pool of this number (0: the default pool).
    fn memory_sleeps(&self, _ptr: DevicePtr, _bytes: usize, _pool: u64) {}
    /// The calling thread's copies move whole pages of the allocator as long as what is returned lives.
    fn moves_memory(&self) -> Option<Box<dyn Any>> {
        None
    }
    /// Work of the library reads memory, and needs nothing of what it holds.
    fn needs_no_contents(&self, _ptr: DevicePtr, _bytes: usize) {}
    /// A program has passed an address as memory, of which the driver knows nothing.
    fn address_passed(&self, _address: usize) -> Result<()> {
        Ok(())
    }
    /// Whether [`host_used`](Observe::host_used) is to be called.
    fn observes_host(&self) -> bool {
        false
    }
    /// The processor reads or writes memory, which may be page-locked and in use by a device.
    fn host_used(&self, _elements: &HostElements<'_>, _writes: bool) {}
    /// The calling thread asks until an event is done. What is returned lives as long as it asks.
    fn host_waits_for(&self, _event: EventHandle) -> Option<Box<dyn Any>> {
        None
    }
    /// What the calling thread learns is no knowledge of the program as long as what is returned lives.
    fn asks_for_itself(&self) -> Option<Box<dyn Any>> {
        None
    }
    /// What [`memory_sleeps`](Observe::memory_sleeps) reported is no longer so.
    fn memory_wakes(&self, _ptr: DevicePtr) {}
}
