//! The Mersenne Twister MT19937 of Matsumoto and Nishimura.

/// Words of the state.
pub(super) const WORDS: usize = 624;
/// The distance of the word that a new word depends on beside its neighbour.
const DISTANCE: usize = 397;

/// The state: words, of which those from `next` on have not been drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Twister {
    pub(super) words: [u32; WORDS],
    /// Words up to the renewal of the state, which happens when the count reaches 0 on a draw.
    pub(super) left: u32,
    pub(super) next: u32,
}

impl Twister {
    pub(super) fn new(seed: u32) -> Twister {
        let mut words = [seed; WORDS];
        for index in 1..WORDS {
            let before = words[index - 1];
            words[index] =
                1_812_433_253_u32.wrapping_mul(before ^ before >> 30).wrapping_add(index as u32);
        }
        Twister { words, left: 1, next: 0 }
    }

    /// A word of 32 random bits.
    #[inline]
    pub(super) fn draw(&mut self) -> u32 {
        self.left -= 1;
        if self.left == 0 {
            self.renew();
        }
        // A state of other code is checked, so the place is one of the words.
        let mut word = self.words[self.next as usize % WORDS];
        self.next += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c_5680;
        word ^= word << 15 & 0xefc6_0000;
        word ^ word >> 18
    }

    fn renew(&mut self) {
        for index in 0..WORDS {
            let (own, neighbour) = (self.words[index], self.words[(index + 1) % WORDS]);
            let mixed = own & 0x8000_0000 | neighbour & 0x7fff_ffff;
            let odd = if neighbour & 1 == 1 { 0x9908_b0df } else { 0 };
            self.words[index] = self.words[(index + DISTANCE) % WORDS] ^ mixed >> 1 ^ odd;
        }
        (self.left, self.next) = (WORDS as u32, 0);
    }
}
