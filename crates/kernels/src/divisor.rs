//! Division by multiplication, as the kernels divide their indices.

/// Division of numbers below 2^31 by one multiplication and a shift.
#[derive(Clone, Copy)]
pub(super) struct Divisor {
    pub(super) size: u32,
    pub(super) factor: u32,
}

impl Divisor {
    const fn shift(self) -> u32 {
        32 - (self.size - 1).leading_zeros()
    }

    /// Divides by `size`, which is at least 1.
    pub(super) const fn by(size: u32) -> Divisor {
        let shift = Divisor { size, factor: 0 }.shift();
        let excess = (1_u64 << shift) - size as u64;
        Divisor { size, factor: ((excess << 32) / size as u64 + 1) as u32 }
    }

    pub(super) const fn to_slot(self) -> u64 {
        (self.factor as u64) << 32 | self.size as u64
    }

    pub(super) fn from_slot(slot: u64) -> Divisor {
        Divisor { size: (slot as u32).max(1), factor: (slot >> 32) as u32 }
    }

    pub(super) fn quotient(self, n: u32) -> u32 {
        let high = ((u64::from(n) * u64::from(self.factor)) >> 32) as u32;
        high.wrapping_add(n) >> self.shift()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_divides_exactly() {
        let sizes = (1..70).chain([127, 641, 65_535, 65_536, 65_537, 1 << 30, (1 << 31) - 1]);
        for size in sizes {
            let divisor = Divisor::from_slot(Divisor::by(size).to_slot());
            let near = [1, size / 2, size, 1 << 16, 1 << 30, 1 << 31];
            let numbers = near.into_iter().flat_map(|n| n.saturating_sub(3)..n.saturating_add(3));
            let multiples = (0..64).map(|k| size.saturating_mul(k));
            let around = multiples.flat_map(|n| [n.saturating_sub(1), n]);
            for n in numbers.chain(around).filter(|n| *n < 1 << 31) {
                assert_eq!(divisor.quotient(n), n / size, "{n} by {size}");
            }
        }
    }
}
