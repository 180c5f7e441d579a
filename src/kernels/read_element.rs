//! What the kernel of `kernels/read_element.cu` is launched with.

use super::arguments::{Dim3, KernelArguments, LaunchShape};
use super::signature::READ_ELEMENT;
use crate::types::DevicePtr;

/// The kernel that writes an element to memory of the host.
pub(crate) const READ_KERNEL: &str = READ_ELEMENT.family;
/// How many words of 8 bytes the kernel writes: 4 bytes of the element and a tag each.
pub(crate) const READ_WORDS: usize = 4;
/// The most bytes of an element.
pub(crate) const READ_BYTES: usize = READ_WORDS * BYTES_OF_WORD;
const BYTES_OF_WORD: usize = 4;

/// A launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadLaunch {
    pub(crate) src: DevicePtr,
    /// Where the words go: memory of the host that the device can write to, aligned to 8 bytes.
    pub(crate) place: u64,
    /// At most [`READ_BYTES`].
    pub(crate) bytes: u32,
    /// In the upper half of every word.
    pub(crate) tag: u32,
}

impl ReadLaunch {
    /// Grid and arguments.
    pub(crate) fn launch(&self) -> (LaunchShape, KernelArguments) {
        let threads = Dim3::line(READ_WORDS as u32);
        let shape = LaunchShape { grid: Dim3::line(1), block: threads, shared_bytes: 0 };
        let arguments = READ_ELEMENT.pack().u64(self.src.0).u64(self.place);
        (shape, arguments.u32(self.bytes).u32(self.tag).finish())
    }

    /// Reads the slots of a launch.
    pub(crate) fn read(slots: &[u64]) -> Option<ReadLaunch> {
        let &[src, place, bytes, tag] = slots else { return None };
        let (bytes, tag) = (bytes as u32, tag as u32);
        (bytes as usize <= READ_BYTES).then_some(ReadLaunch {
            src: DevicePtr(src),
            place,
            bytes,
            tag,
        })
    }

    /// The words that an element becomes.
    pub(crate) fn words(element: [u8; READ_BYTES], tag: u32) -> [u64; READ_WORDS] {
        let mut words = [u64::from(tag) << 32; READ_WORDS];
        for (word, bytes) in words.iter_mut().zip(element.as_chunks::<BYTES_OF_WORD>().0) {
            *word |= u64::from(u32::from_le_bytes(*bytes));
        }
        words
    }

    /// The element that words hold, if all of them have the tag.
    pub(crate) fn element(words: [u64; READ_WORDS], tag: u32) -> Option<[u8; READ_BYTES]> {
        let mut element = [0; READ_BYTES];
        for (word, bytes) in words.into_iter().zip(element.as_chunks_mut::<BYTES_OF_WORD>().0) {
            if (word >> 32) as u32 != tag {
                return None;
            }
            *bytes = (word as u32).to_le_bytes();
        }
        Some(element)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_is_read_as_it_was_packed() {
        let launch = ReadLaunch { src: DevicePtr(0x1002), place: 0x2000, bytes: 16, tag: 7 };
        assert_eq!(ReadLaunch::read(launch.launch().1.slots()), Some(launch));
        let too_wide = ReadLaunch { bytes: 17, ..launch };
        assert_eq!(ReadLaunch::read(too_wide.launch().1.slots()), None);
    }

    #[test]
    fn an_element_is_there_when_every_word_has_the_tag() {
        let element: [u8; READ_BYTES] = std::array::from_fn(|at| (at as u8).wrapping_add(250));
        let words = ReadLaunch::words(element, 7);
        assert_eq!(ReadLaunch::element(words, 7), Some(element));
        for late in 0..READ_WORDS {
            let mut early = words;
            early[late] &= u64::from(u32::MAX);
            assert_eq!(ReadLaunch::element(early, 7), None, "word {late}");
        }
    }
}
