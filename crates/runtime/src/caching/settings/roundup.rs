//! Rounding by powers of two: the interval from each power of two to the next is divided into equal steps,
//! and a size is rounded up to the next step. The number of steps may differ between intervals.

use crate::caching::size_class::{BLOCK_UNIT, round_to_unit};

/// Powers of two with divisions of their own. The first stands for all sizes below 2 MiB, the last
/// for all sizes from 32 GiB on.
pub(super) const INTERVALS: usize = 16;

/// What the value must be.
pub(super) const RULE: &str = "a power of two (1 is off), or a list such as [64:8,256:4,>:1] of \
     powers of two in MiB (or >, what is above) with a power of two or 0 (off) for each";

/// The divisions for a size.
#[inline]
pub(super) fn divisions_for(divisions: &[u32; INTERVALS], bytes: usize) -> u32 {
    divisions[interval((bytes >> 20) as u64)]
}

/// The interval of a size of `mib` whole MiB.
#[inline]
fn interval(mib: u64) -> usize {
    (mib.max(1).ilog2() as usize).min(INTERVALS - 1)
}

/// The next step; for sizes too small to have steps of 512, and without divisions, the next
/// multiple of 512.
///
/// The result is a multiple of 512 in every case: above 512 times the divisions, both powers of
/// two, a step is 512 times a power of two.
#[inline]
pub(super) fn round(bytes: usize, divisions: u32) -> usize {
    if divisions <= 1 || bytes <= BLOCK_UNIT * divisions as usize {
        return round_to_unit(bytes);
    }
    bytes.next_multiple_of((1 << bytes.ilog2()) / divisions as usize)
}

/// One number of divisions for all sizes.
pub(super) fn uniform(value: &str) -> Option<[u32; INTERVALS]> {
    let divisions = value.parse::<u32>().ok().filter(|n| n.is_power_of_two())?;
    Some([divisions; INTERVALS])
}

/// The divisions of a list. What the first entry says holds for everything below it too; `>` is
/// everything above the entry before it; what lies between two entries has none.
pub(super) fn listed(pairs: &[(&str, &str)]) -> Option<[u32; INTERVALS]> {
    let mut all = [0; INTERVALS];
    let mut last = None;
    for (from, value) in pairs {
        let divisions = value.parse::<u32>().ok().filter(|n| *n == 0 || n.is_power_of_two())?;
        if *from == ">" {
            all[last.unwrap_or(0) + 1..].fill(divisions);
            continue;
        }
        let mib = from.parse::<u64>().ok().filter(|n| n.is_power_of_two())?;
        let index = interval(mib);
        if last.is_none() {
            all[..index].fill(divisions);
        }
        all[index] = divisions;
        last = Some(index);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn steps_are_parts_of_the_power_of_two_below() {
        for (bytes, divisions, rounded) in [
            (0, 4, 512),
            (1, 4, 512),
            (513, 4, 1024),
            // Not yet above 512 times the divisions: multiples of 512.
            (1200, 4, 1536),
            (2047, 4, 2048),
            (2048, 4, 2048),
            // Above: a quarter of 2048 is 512, of 4096 it is 1024.
            (2049, 4, 2560),
            (2560, 4, 2560),
            (4097, 4, 5120),
            (7169, 4, 8192),
            (8192, 4, 8192),
            (1200, 2, 1536),
            (1537, 2, 2048),
            (1200, 1, 1536),
            (1200, 0, 1536),
            (MIB + 1, 2, MIB + MIB / 2),
            (MIB + MIB / 2 + 1, 2, 2 * MIB),
            (84 * MIB, 8, 88 * MIB),
            (84 * MIB, 2, 96 * MIB),
            (96 * MIB, 2, 96 * MIB),
            (84 * MIB + 1, 1, 84 * MIB + 512),
            (3 * MIB + 1, 1 << 31, 3 * MIB + 512),
        ] {
            assert_eq!(round(bytes, divisions), rounded, "{bytes} in {divisions}");
        }
    }

    #[test]
    fn every_power_of_two_has_its_interval_and_the_ends_reach_further() {
        let mut divisions = [0; INTERVALS];
        for (index, value) in divisions.iter_mut().enumerate() {
            *value = index as u32 + 100;
        }
        for (bytes, index) in [
            (0, 0),
            (512, 0),
            (MIB, 0),
            (2 * MIB - 1, 0),
            (2 * MIB, 1),
            (64 * MIB, 6),
            (128 * MIB - 1, 6),
            (128 * MIB, 7),
            (32 << 30, 15),
            (64 << 30, 15),
            (1 << 59, 15),
        ] {
            assert_eq!(divisions_for(&divisions, bytes), index + 100, "{bytes}");
        }
    }

    #[test]
    fn a_list_fills_below_its_first_entry_and_above_its_last() {
        let listed = |pairs: &[(&str, &str)]| listed(pairs);
        assert_eq!(
            listed(&[("64", "8"), ("256", "4"), (">", "1")]),
            Some([8, 8, 8, 8, 8, 8, 8, 0, 4, 1, 1, 1, 1, 1, 1, 1])
        );
        assert_eq!(
            listed(&[("256", "1"), ("512", "2"), ("1024", "4"), (">", "8")]),
            Some([1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8])
        );
        assert_eq!(listed(&[("1", "4")]), Some([4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
        assert_eq!(listed(&[("4096", "0"), ("65536", "2"), (">", "4")]).unwrap()[15], 2);
        assert_eq!(listed(&[(">", "4")]), Some([0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]));
        assert_eq!(listed(&[]), Some([0; INTERVALS]));
        for bad in [("3", "4"), ("0", "4"), ("64", "3"), ("64", "-1"), ("x", "1"), ("<", "1")] {
            assert_eq!(listed(&[bad]), None, "{bad:?}");
        }
    }

    #[test]
    fn one_value_holds_everywhere() {
        assert_eq!(uniform("4"), Some([4; INTERVALS]));
        assert_eq!(uniform("1"), Some([1; INTERVALS]));
        for bad in ["0", "3", "-4", "4.0", "x", "4294967296"] {
            assert_eq!(uniform(bad), None, "{bad}");
        }
    }
}
