//! The place of a handle: how often the handle is owned, and the words of its tensor.
//!
//! Reading a tensor takes no lock. A reader checks that the handle is alive, copies the words that it needs,
//! owns the storage that they name if it needs that, too, and checks again. If the handle was released or
//! assigned meanwhile, the second check fails, and the reader lets go of what it owns: the words may be a
//! mixture then, and the storage another one, but both were safe to look at.
//!
//! A release ends the generation first and gives up the storage afterwards. So a reader that owned a storage
//! which came later to the same memory has seen that, and finds the generation ended.

use sconce_base::lock::rank;
use sconce_base::sync::{AtomicU64, Mutex, Ordering, fence};

use super::written::{NO_STORAGE, Written};
use crate::tensor::dim_list::Dims;
use crate::tensor::layout::{INLINE, TensorLayout};

/// Aligned so that it begins with a cache line: few dimensions take no more than two.
#[repr(align(64))]
pub(super) struct HandlePlace {
    /// The generation in the upper half, the owners in the lower one. Without owners the generation is that
    /// of the next handle; generation 0 belongs to no handle.
    word: AtomicU64,
    /// Twice the number of assignments; odd while one is being made.
    assignments: AtomicU64,
    /// The storage's number, the number of dimensions in 24 bits, and the type in 8.
    pub(super) kind: AtomicU64,
    pub(super) offset: AtomicU64,
    pub(super) numel: AtomicU64,
    /// Of the first element.
    pub(super) address: AtomicU64,
    /// The number of the place of the memory.
    pub(super) device: AtomicU64,
    /// Sizes, then strides, each in a row: callers borrow them.
    pub(super) extents: [[AtomicU64; INLINE]; 2],
    /// Sizes, then strides, of a tensor with more dimensions. Held while such a tensor is written and while
    /// one is assigned.
    large: Mutex<rank::TensorLarge, Vec<i64>>,
}

impl Default for HandlePlace {
    fn default() -> Self {
        let word = |value| AtomicU64::new(value);
        HandlePlace {
            word: word(one_word(1, 0)),
            assignments: word(0),
            kind: word(u64::from(NO_STORAGE)),
            offset: word(0),
            numel: word(0),
            address: word(0),
            device: word(0),
            extents: std::array::from_fn(|_| std::array::from_fn(|_| word(0))),
            large: Mutex::new(Vec::new()),
        }
    }
}

/// The words of a tensor that is looked at. They may be a mixture of two tensors; then what was made of them is
/// dropped after the look.
pub struct TensorWords<'a> {
    pub(super) place: &'a HandlePlace,
    kind: u64,
    large: Option<&'a [i64]>,
}

impl TensorWords<'_> {
    /// The number of the storage, unless the tensor is the undefined one.
    #[inline]
    pub fn storage(&self) -> Option<u32> {
        let number = self.kind as u32;
        (number != NO_STORAGE).then_some(number)
    }

    #[inline]
    pub fn rank(&self) -> usize {
        (self.kind >> 32) as usize & 0xff_ffff
    }

    #[inline]
    pub fn dtype(&self) -> u8 {
        (self.kind >> 56) as u8
    }

    /// Storage and type, with another number of dimensions.
    #[inline(always)]
    pub(super) fn kind_with_rank(&self, rank: usize) -> u64 {
        self.kind & !(0xff_ffff << 32) | (rank as u64) << 32
    }

    #[inline]
    pub fn offset(&self) -> i64 {
        self.place.offset.load(Ordering::Relaxed) as i64
    }

    #[inline]
    pub fn numel(&self) -> i64 {
        self.place.numel.load(Ordering::Relaxed) as i64
    }

    #[inline]
    pub fn address(&self) -> usize {
        self.place.address.load(Ordering::Relaxed) as usize
    }

    #[inline]
    pub fn device(&self) -> i32 {
        self.place.device.load(Ordering::Relaxed) as i32
    }

    /// Copies sizes, strides, offset and number of elements; `None` if they can be read only with the lock.
    #[inline(always)]
    pub(super) fn layout(&self, layout: &mut TensorLayout) -> Option<()> {
        (layout.offset, layout.numel) = (self.offset(), self.numel());
        let rank = self.rank();
        if rank > INLINE {
            let (sizes, strides) = self.large?.split_at_checked(rank)?;
            layout.set(sizes, strides);
            return Some(());
        }
        let (sizes, strides) = layout.resize(rank);
        let [from_sizes, from_strides] = &self.place.extents;
        for (dim, (size, stride)) in sizes.iter_mut().zip(strides).enumerate() {
            *size = from_sizes.get(dim)?.load(Ordering::Relaxed) as i64;
            *stride = from_strides.get(dim)?.load(Ordering::Relaxed) as i64;
        }
        Some(())
    }

    /// Copies the sizes; `None` if they can be read only with the lock.
    #[inline]
    pub fn sizes(&self, sizes: &mut Dims) -> Option<()> {
        self.extents(0, sizes)
    }

    /// Copies the strides, as [`sizes`](Self::sizes).
    #[inline]
    pub fn strides(&self, strides: &mut Dims) -> Option<()> {
        self.extents(1, strides)
    }

    #[inline(always)]
    fn extents(&self, which: usize, to: &mut Dims) -> Option<()> {
        let rank = self.rank();
        to.clear();
        if rank > INLINE {
            to.extend_from_slice(self.large?.get(which * rank..(which + 1) * rank)?);
            return Some(());
        }
        for extent in self.place.extents[which].get(..rank)? {
            to.push(extent.load(Ordering::Relaxed) as i64);
        }
        Some(())
    }

    /// Where the sizes (0) or the strides (1) lie while the handle is alive and nothing is assigned to it.
    #[cfg(not(loom))]
    pub fn extents_address(&self, which: usize) -> Option<*const i64> {
        let rank = self.rank();
        if rank > INLINE {
            return Some(self.large?.get(which * rank..)?.as_ptr());
        }
        Some(self.place.extents[which].as_ptr().cast())
    }
}

/// The result of a look without a lock.
enum Look<R> {
    Seen(R),
    /// The handle was released.
    Released,
    /// An assignment came in between, or there are too many dimensions.
    NeedsLock,
}

/// What a release leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// There are other owners.
    Shared,
    /// The last owner has gone: the caller has the place alone.
    Last,
    /// The handle was released before.
    Dead,
}

fn one_word(generation: u32, owners: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(owners)
}

#[inline]
fn is_alive(word: u64, generation: u32) -> bool {
    (word >> 32) as u32 == generation && word as u32 != 0
}

impl HandlePlace {
    /// A place that has been used so often that its next generation is this one.
    #[cfg(all(test, not(loom)))]
    pub(super) fn at_generation(generation: u32) -> HandlePlace {
        let place = HandlePlace::default();
        place.word.store(one_word(generation, 0), Ordering::Relaxed);
        place
    }

    /// Makes a handle of a place that the caller has taken. Returns its generation. The storage's ownership
    /// goes to the place.
    #[inline(always)]
    pub(super) fn publish(&self, tensor: Written<'_>) -> u32 {
        if tensor.sizes.len() > INLINE {
            self.write_large(tensor, &mut self.large.lock());
        } else {
            self.write(tensor);
        }
        self.publish_written()
    }

    /// As [`publish`](Self::publish), when the words have been written.
    #[inline(always)]
    pub(super) fn publish_written(&self) -> u32 {
        let generation = (self.word.load(Ordering::Relaxed) >> 32) as u32;
        self.word.store(one_word(generation, 1), Ordering::Release);
        generation
    }

    /// Writes the words. The caller has the place alone, or has made the assignments odd.
    #[inline(always)]
    fn write(&self, tensor: Written<'_>) {
        // A reader that sees any of the words sees what was written before them: that the generation has
        // ended, or that an assignment is being made.
        fence(Ordering::Release);
        let rank = tensor.sizes.len() as u64;
        let kind = u64::from(tensor.storage) | rank << 32 | u64::from(tensor.dtype) << 56;
        self.kind.store(kind, Ordering::Relaxed);
        self.offset.store(tensor.offset as u64, Ordering::Relaxed);
        self.numel.store(tensor.numel as u64, Ordering::Relaxed);
        self.address.store(tensor.address as u64, Ordering::Relaxed);
        self.device.store(tensor.device as u64, Ordering::Relaxed);
        let [to_sizes, to_strides] = &self.extents;
        for (word, size) in to_sizes.iter().zip(tensor.sizes) {
            word.store(*size as u64, Ordering::Relaxed);
        }
        for (word, stride) in to_strides.iter().zip(tensor.strides) {
            word.store(*stride as u64, Ordering::Relaxed);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_large(&self, tensor: Written<'_>, large: &mut Vec<i64>) {
        large.clear();
        if tensor.sizes.len() > INLINE {
            large.extend_from_slice(tensor.sizes);
            large.extend_from_slice(tensor.strides);
        } else {
            large.shrink_to_fit();
        }
        self.write(tensor);
    }

    /// Looks at the tensor of a handle; `None` if the handle was released. `copy` returns what it made of the
    /// words, or `None` if it needs the lock or the storage has gone. It may be called more than once.
    #[inline(always)]
    pub(super) fn look<R>(
        &self,
        generation: u32,
        mut copy: impl FnMut(&TensorWords<'_>) -> Option<R>,
    ) -> Option<R> {
        match self.try_look(generation, None, &mut copy) {
            Look::Seen(seen) => Some(seen),
            Look::Released => None,
            Look::NeedsLock => self.look_locked(generation, &mut copy),
        }
    }

    /// As [`look`](Self::look), for callers with another way for what needs the lock: `None` then, too.
    #[inline(always)]
    pub(super) fn look_once<R>(
        &self,
        generation: u32,
        copy: impl FnOnce(&TensorWords<'_>) -> Option<R>,
    ) -> Option<R> {
        match self.try_look(generation, None, copy) {
            Look::Seen(seen) => Some(seen),
            Look::Released | Look::NeedsLock => None,
        }
    }

    /// Looks while nothing is assigned.
    #[cold]
    #[inline(never)]
    fn look_locked<R>(
        &self,
        generation: u32,
        copy: &mut impl FnMut(&TensorWords<'_>) -> Option<R>,
    ) -> Option<R> {
        let large = self.large.lock();
        match self.try_look(generation, Some(&large), copy) {
            Look::Seen(seen) => Some(seen),
            // Only a release can have come in between.
            Look::Released | Look::NeedsLock => None,
        }
    }

    #[inline(always)]
    fn try_look<R>(
        &self,
        generation: u32,
        large: Option<&[i64]>,
        copy: impl FnOnce(&TensorWords<'_>) -> Option<R>,
    ) -> Look<R> {
        let assignments = self.assignments.load(Ordering::Acquire);
        if !is_alive(self.word.load(Ordering::Acquire), generation) {
            return Look::Released;
        }
        let kind = self.kind.load(Ordering::Relaxed);
        let seen = copy(&TensorWords { place: self, kind, large });
        fence(Ordering::Acquire);
        if !is_alive(self.word.load(Ordering::Relaxed), generation) {
            return Look::Released;
        }
        if assignments & 1 != 0 || self.assignments.load(Ordering::Relaxed) != assignments {
            return Look::NeedsLock;
        }
        seen.map_or(Look::NeedsLock, Look::Seen)
    }

    /// Owns the handle once more; `false` if it was released, or is owned four billion times.
    pub(super) fn retain(&self, generation: u32) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while is_alive(word, generation) && word as u32 != u32::MAX {
            match self.word.compare_exchange_weak(
                word,
                word + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Gives up one ownership.
    #[inline]
    pub(super) fn release(&self, generation: u32) -> Release {
        let (last, ended) = (one_word(generation, 1), one_word(generation.wrapping_add(1), 0));
        // AcqRel: whoever takes the place next comes after all of its owners.
        match self.word.compare_exchange(last, ended, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => Release::Last,
            Err(word) => self.release_shared(generation, word),
        }
    }

    #[cold]
    #[inline(never)]
    fn release_shared(&self, generation: u32, mut word: u64) -> Release {
        while is_alive(word, generation) {
            let (fewer, outcome) = match word as u32 {
                1 => (one_word(generation.wrapping_add(1), 0), Release::Last),
                _ => (word - 1, Release::Shared),
            };
            match self.word.compare_exchange_weak(word, fewer, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return outcome,
                Err(now) => word = now,
            }
        }
        Release::Dead
    }

    /// Takes the storage's ownership out of a place whose last owner the caller was.
    #[inline]
    pub(super) fn take_out(&self) -> u32 {
        let kind = self.kind.load(Ordering::Relaxed);
        if (kind >> 32) as usize & 0xff_ffff > INLINE {
            // The memory of the heap goes.
            self.write_large(Written::UNDEFINED, &mut self.large.lock());
        }
        kind as u32
    }

    /// Writes another tensor for a handle that the caller owns. Returns the storage that was there, whose
    /// ownership goes to the caller.
    pub(super) fn assign(&self, tensor: Written<'_>) -> u32 {
        let mut large = self.large.lock();
        let assignments = self.assignments.load(Ordering::Relaxed);
        let before = self.kind.load(Ordering::Relaxed) as u32;
        self.assignments.store(assignments + 1, Ordering::Relaxed);
        self.write_large(tensor, &mut large);
        self.assignments.store(assignments + 2, Ordering::Release);
        before
    }
}
