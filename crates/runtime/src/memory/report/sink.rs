//! What the tree of a snapshot is written into: text or opcodes, one method a kind of value.
//!
//! The tree is walked once for every form (`tree`), so that all forms have the same structure; a
//! sink only knows how its form spells things. Calls are resolved at compile time: the walk of a
//! block becomes a handful of copies.

/// A string that is known beforehand, mostly a key, in the spellings that sinks need.
pub(super) struct Word {
    /// The string itself.
    pub(super) plain: &'static str,
    /// In JSON, as a value with the comma after it.
    pub(super) quoted: &'static str,
    /// In JSON, as a key.
    pub(super) key: &'static str,
    /// Which of the words it is.
    pub(super) number: u8,
}

/// Declares the words and numbers them.
macro_rules! words {
    ($($name:ident = $text:literal;)*) => {
        #[allow(
            non_camel_case_types,
            clippy::upper_case_acronyms,
            reason = "only its numbers are used"
        )]
        #[derive(Clone, Copy)]
        enum Number { $($name),* }
        $(pub(super) const $name: Word = Word {
            plain: $text,
            quoted: concat!("\"", $text, "\","),
            key: concat!("\"", $text, "\":"),
            number: Number::$name as u8,
        };)*
        /// All words, in the order of their numbers.
        #[cfg(test)]
        pub(super) const ALL: &[Word] = &[$($name),*];
    };
}

words! {
    SEGMENTS = "segments";
    DEVICE_TRACES = "device_traces";
    ALLOCATOR_SETTINGS = "allocator_settings";
    EXTERNAL_ANNOTATIONS = "external_annotations";
    DEVICE = "device";
    ADDRESS = "address";
    TOTAL_SIZE = "total_size";
    ALLOCATED_SIZE = "allocated_size";
    ACTIVE_SIZE = "active_size";
    REQUESTED_SIZE = "requested_size";
    STREAM = "stream";
    SEGMENT_TYPE = "segment_type";
    SEGMENT_POOL_ID = "segment_pool_id";
    IS_EXPANDABLE = "is_expandable";
    FRAMES = "frames";
    BLOCKS = "blocks";
    SIZE = "size";
    STATE = "state";
    ACTION = "action";
    ADDR = "addr";
    DEVICE_FREE = "device_free";
    TIME_US = "time_us";
    POOL_ID = "pool_id";
    COMPILE_CONTEXT = "compile_context";
    USER_METADATA = "user_metadata";
    NOT_AVAILABLE = "N/A";
    NOTHING = "";
    CONF = "PYTORCH_CUDA_ALLOC_CONF";
    MAX_SPLIT_SIZE = "max_split_size";
    GARBAGE_COLLECTION_THRESHOLD = "garbage_collection_threshold";
    EXPANDABLE_SEGMENTS = "expandable_segments";
    PINNED_NUM_REGISTER_THREADS = "pinned_num_register_threads";
    RELEASE_LOCK_ON_CUDAMALLOC = "release_lock_on_cudamalloc";
    PINNED_USE_CUDA_HOST_REGISTER = "pinned_use_cuda_host_register";
    GRAPH_CAPTURE_RECORD_STREAM_REUSE = "graph_capture_record_stream_reuse";
    ROUNDUP_POWER2_DIVISIONS = "roundup_power2_divisions";
    SMALL = "small";
    LARGE = "large";
    ACTIVE_ALLOCATED = "active_allocated";
    ACTIVE_PENDING_FREE = "active_pending_free";
    INACTIVE = "inactive";
    ALLOC = "alloc";
    FREE_REQUESTED = "free_requested";
    FREE_COMPLETED = "free_completed";
    SEGMENT_ALLOC = "segment_alloc";
    SEGMENT_FREE = "segment_free";
    SEGMENT_MAP = "segment_map";
    SEGMENT_UNMAP = "segment_unmap";
    SNAPSHOT = "snapshot";
    OOM = "oom";
}

/// One form of writing a tree down.
pub(super) trait Sink {
    /// A map begins; keys and values follow in turn.
    fn open_map(&mut self);
    /// The innermost map ends.
    fn close_map(&mut self);
    /// A list begins.
    fn open_list(&mut self);
    /// An item of the innermost list follows; `index` of them are there.
    fn item(&mut self, index: usize);
    /// The innermost list ends.
    fn close_list(&mut self);
    /// A list of nothing.
    fn empty_list(&mut self);
    /// A key of the innermost map.
    fn key(&mut self, key: &Word);
    /// A key that is a number in decimal digits.
    fn number_key(&mut self, key: u32);
    /// A number that is never negative.
    fn unsigned(&mut self, value: u64);
    /// A number.
    fn signed(&mut self, value: i64);
    /// A number with a fraction; finite.
    fn float(&mut self, value: f64);
    /// True or false.
    fn boolean(&mut self, value: bool);
    /// A string of the words.
    fn word(&mut self, value: &Word);
    /// Any string.
    fn text(&mut self, value: &str);
    /// Two numbers that belong together.
    fn pair(&mut self, value: (u64, u64));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_distinct_and_numbered_in_order() {
        for (index, word) in ALL.iter().enumerate() {
            assert_eq!(usize::from(word.number), index);
            assert_eq!(word.quoted, format!("\"{}\",", word.plain));
            assert_eq!(word.key, format!("\"{}\":", word.plain));
            assert!(!ALL[..index].iter().any(|other| other.plain == word.plain));
        }
    }
}
