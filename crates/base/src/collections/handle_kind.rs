//! What kind of object a handle names. The handle says it itself, so that a handle of one kind is never taken for one
//! of another, and a refusal can name both.
//!
//! | bits | handle of a slab's value | handle of an event or a tensor, whose places are a pool's |
//! |---|---|---|
//! | 38–63 | generation, odd while the value lives | generation |
//! | 32–37 | kind | generation |
//! | 26–31 | chunk, less than 20 | kind, 62 or 63 |
//! | 0–25 | place in the chunk | number of the place |
//!
//! The upper half of a slab's handle is the word that its slot has while the value lives, so that comparing the two
//! checks the kind as well. libsconce_torch compiles this file, too: it depends on the standard library alone.

/// Values in the first chunk of a slab; each other one has twice as many as the one before.
pub const FIRST_CHUNK: usize = 64;
/// Chunks that a slab has at most.
pub const CHUNKS: usize = 20;
/// The bits of a handle below the chunk.
pub const PLACE_BITS: u32 = 26;
const _: () = assert!(FIRST_CHUNK << (CHUNKS - 1) <= 1 << PLACE_BITS);

/// The bits of a kind.
const KIND_BITS: u32 = 6;
const KIND: u32 = (1 << KIND_BITS) - 1;

/// What the word of a slot grows by when its generation does.
pub const NEXT_GENERATION: u32 = 1 << KIND_BITS;

/// The bits of a handle of [`HandleKind::numbered`] that are part of the number and below the chunk.
const NUMBER_BITS: u32 = PLACE_BITS - 1;
const _: () = assert!(FIRST_CHUNK << (CHUNKS - 1) == 1 << NUMBER_BITS);

/// What a handle names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandleKind {
    /// A graph of captured work.
    Graph = 1,
    /// A generator of random numbers.
    Generator = 2,
    /// A module of kernels.
    Module = 3,
    /// A kernel of a module.
    Kernel = 4,
    /// A source of kernels.
    KernelSource = 5,
    /// A private pool of memory.
    MemoryPool = 6,
    /// A snapshot of memory.
    MemorySnapshot = 7,
    /// A communicator.
    Comm = 8,
    /// A call of a communicator.
    CommWork = 9,
    /// A store of keys and values.
    Store = 10,
    /// A graph of a backward pass.
    BackwardGraph = 11,
    /// A compiled model, of libsconce_torch.
    Model = 12,
    /// A kernel library, of libsconce_torch.
    KernelLibrary = 13,
    /// An operator of kernel libraries, of libsconce_torch.
    Operator = 14,
    /// An event.
    Event = 0x3e,
    /// A tensor.
    Tensor = 0x3f,
}

const _: () = assert!(CHUNKS <= HandleKind::Event as usize);

impl HandleKind {
    /// All kinds.
    pub const ALL: [HandleKind; 16] = [
        HandleKind::Graph,
        HandleKind::Generator,
        HandleKind::Module,
        HandleKind::Kernel,
        HandleKind::KernelSource,
        HandleKind::MemoryPool,
        HandleKind::MemorySnapshot,
        HandleKind::Comm,
        HandleKind::CommWork,
        HandleKind::Store,
        HandleKind::BackwardGraph,
        HandleKind::Model,
        HandleKind::KernelLibrary,
        HandleKind::Operator,
        HandleKind::Event,
        HandleKind::Tensor,
    ];

    /// The kind of object that a handle was made for, whether or not the object is alive. `None` if the number has not
    /// the form of a handle. About one of 30 numbers that are no handles has that form, so this is for messages.
    pub fn of(handle: u64) -> Option<HandleKind> {
        let (word, low) = ((handle >> 32) as u32, handle as u32);
        let (chunk, place) = (low >> PLACE_BITS, low & ((1 << PLACE_BITS) - 1));
        let number = match chunk as usize {
            chunk if chunk < CHUNKS => {
                let is_value =
                    word & NEXT_GENERATION != 0 && (place as usize) < FIRST_CHUNK << chunk;
                is_value.then_some(word & KIND)?
            }
            _ => chunk,
        };
        let is_of_pool = |kind: &HandleKind| matches!(kind, HandleKind::Event | HandleKind::Tensor);
        let kind = HandleKind::ALL.into_iter().find(|kind| *kind as u32 == number)?;
        (is_of_pool(&kind) == (chunk as usize >= CHUNKS)).then_some(kind)
    }

    /// The word of a slab's slot whose generation is 0.
    pub const fn first_word(self) -> u32 {
        self as u32
    }

    /// What the objects are called, with an article.
    pub const fn noun(self) -> &'static str {
        match self {
            HandleKind::Graph => "a graph",
            HandleKind::Generator => "a generator",
            HandleKind::Module => "a module",
            HandleKind::Kernel => "a kernel",
            HandleKind::KernelSource => "a kernel source",
            HandleKind::MemoryPool => "a memory pool",
            HandleKind::MemorySnapshot => "a memory snapshot",
            HandleKind::Comm => "a communicator",
            HandleKind::CommWork => "a work",
            HandleKind::Store => "a store",
            HandleKind::BackwardGraph => "a backward graph",
            HandleKind::Model => "a model",
            HandleKind::KernelLibrary => "a kernel library",
            HandleKind::Operator => "an operator",
            HandleKind::Event => "an event",
            HandleKind::Tensor => "a tensor",
        }
    }

    /// The message about a handle that names no live object of this kind. `argument` is its name, and `otherwise` what
    /// to say of it unless it is of another kind.
    #[cold]
    pub fn refusal(self, handle: u64, argument: &str, otherwise: &str) -> String {
        match HandleKind::of(handle) {
            Some(other) if other != self => {
                format!("{argument} is a handle of {}, not of {}", other.noun(), self.noun())
            }
            _ => format!("{argument} {otherwise}"),
        }
    }

    /// The handle with a number, for tables that use no number again. Numbers are less than 2^50.
    pub const fn numbered(self, number: u64) -> u64 {
        let generation = (number >> NUMBER_BITS) << 1 | 1;
        let place = ((CHUNKS as u64 - 1) << PLACE_BITS) | (number & ((1 << NUMBER_BITS) - 1));
        (generation << KIND_BITS | self as u64) << 32 | place
    }

    /// The number of a handle that [`numbered`](Self::numbered) made; `None` for others.
    pub fn number(self, handle: u64) -> Option<u64> {
        let number =
            (handle >> (32 + KIND_BITS + 1)) << NUMBER_BITS | (handle & ((1 << NUMBER_BITS) - 1));
        (self.numbered(number) == handle).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_number_of_its_own_that_is_not_0() {
        for (at, kind) in HandleKind::ALL.into_iter().enumerate() {
            assert!(kind as u32 != 0 && kind as u32 <= KIND, "{kind:?}");
            assert!(HandleKind::ALL[..at].iter().all(|other| *other as u32 != kind as u32));
            assert!(HandleKind::ALL[..at].iter().all(|other| other.noun() != kind.noun()));
        }
    }

    #[test]
    fn numbered_handles_read_back_and_are_of_one_kind() {
        let slabs = HandleKind::ALL.into_iter().filter(|kind| (*kind as usize) < CHUNKS);
        for kind in slabs {
            for number in [0, 1, (1 << NUMBER_BITS) - 1, 1 << NUMBER_BITS, (1 << 50) - 1] {
                let handle = kind.numbered(number);
                assert_eq!(HandleKind::of(handle), Some(kind), "{number:#x}");
                for other in HandleKind::ALL {
                    let expected = (other == kind).then_some(number);
                    assert_eq!(other.number(handle), expected, "{other:?} {number:#x}");
                }
            }
        }
    }

    #[test]
    fn numbers_that_are_no_handles_are_of_no_kind() {
        let live = HandleKind::Graph.numbered(7);
        let of_nothing = [
            0,
            1,
            0xdead_beef,
            // An even generation, no kind, and kinds of pools in place of a slab's.
            live ^ 1 << 38,
            live & !(0x3f << 32),
            live | 0x3f << 32,
            // A chunk that no slab has, and a place behind a chunk.
            live | 0x1f << 26,
            (live & !(0x3f << 26)) | 64,
        ];
        for handle in of_nothing {
            assert_eq!(HandleKind::of(handle), None, "{handle:#x}");
        }
    }

    #[test]
    fn a_refusal_names_both_kinds() {
        let generator = HandleKind::Generator.numbered(3);
        let text = HandleKind::Graph.refusal(generator, "graph", "is not alive");
        assert_eq!(text, "graph is a handle of a generator, not of a graph");
        for handle in [0, 5, HandleKind::Graph.numbered(3)] {
            let text = HandleKind::Graph.refusal(handle, "other", "is not alive");
            assert_eq!(text, "other is not alive");
        }
    }
}
