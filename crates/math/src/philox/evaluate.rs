//! A fill on the CPU: the same elements as the GPU's, a tile of threads at a time.

use super::bijection::philox;
use super::element::Elements;
use super::fill::Fill;

/// Threads of a tile: neighbouring threads compute neighbouring elements.
const TILE: u64 = 512;
/// Bytes of the largest element.
const LARGEST: usize = 8;

/// Computes the elements of one part and hands them to `write` in runs of neighbours: the index of
/// the first, and their bytes.
///
/// `threads` is torch's thread count for the part, `offset` where its draws begin.
pub fn evaluate<E>(
    fill: &Fill,
    n: u64,
    seed: u64,
    offset: u64,
    threads: u64,
    mut write: impl FnMut(u64, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let elements = Elements::new(fill);
    let bytes = fill.dtype.bytes();
    let per_draw = fill.elements_per_draw();
    let mut rows = [[0_u8; TILE as usize * LARGEST]; 4];
    for tile in (0..n.min(threads)).step_by(TILE as usize) {
        let width = TILE.min(threads - tile);
        for draw in 0.. {
            let first = draw * per_draw * threads + tile;
            if first >= n {
                break;
            }
            let used = width.min(n - first);
            for place in 0..used {
                let words = philox(seed, offset / 4 + draw, tile + place);
                let at = place as usize * bytes;
                for (row, bits) in rows.iter_mut().zip(elements.of(words)) {
                    row[at..at + bytes].copy_from_slice(&bits.to_le_bytes()[..bytes]);
                }
            }
            for (row, start) in rows.iter().zip((first..n).step_by(threads as usize)) {
                if start >= first + per_draw * threads {
                    break;
                }
                let run = width.min(n - start);
                write(start, &row[..run as usize * bytes])?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sconce_base::element::Dtype;

    use super::super::Distribution;
    use super::*;

    /// Element by element, straight from the formula.
    fn directly(fill: &Fill, n: u64, seed: u64, offset: u64, threads: u64) -> Vec<u8> {
        let elements = Elements::new(fill);
        let per_draw = fill.elements_per_draw();
        (0..n)
            .flat_map(|i| {
                let (thread, q) = (i % threads, i / threads);
                let words = philox(seed, offset / 4 + q / per_draw, thread);
                let bits = elements.of(words)[(q % per_draw) as usize];
                bits.to_le_bytes()[..fill.dtype.bytes()].to_vec()
            })
            .collect()
    }

    #[test]
    fn tiles_give_every_element_once_and_as_the_formula_says() {
        let fills = [
            Fill::real(Distribution::Normal, Dtype::F32, 1.0, 2.0),
            Fill::real(Distribution::Uniform, Dtype::F64, 0.0, 1.0),
            Fill::integers(Dtype::U8, 200, 3),
            Fill::full_range(Dtype::I64),
        ];
        for fill in fills {
            for (n, threads) in [
                (1, 256),
                (255, 256),
                (512, 512),
                (1024, 256),
                (1025, 256),
                (7777, 768),
                (9000, 1280),
            ] {
                let bytes = fill.dtype.bytes();
                let mut result = vec![0_u8; n as usize * bytes];
                let mut written = 0;
                evaluate::<()>(&fill, n, 7, 12, threads, |first, run| {
                    let at = first as usize * bytes;
                    result[at..at + run.len()].copy_from_slice(run);
                    written += run.len();
                    Ok(())
                })
                .unwrap();
                assert_eq!(written, result.len(), "{fill:?} {n} {threads}");
                assert_eq!(result, directly(&fill, n, 7, 12, threads), "{fill:?} {n} {threads}");
            }
        }
    }

    #[test]
    fn a_failing_write_ends_it() {
        let fill = Fill::full_range(Dtype::U8);
        let mut calls = 0;
        let result = evaluate(&fill, 5000, 0, 0, 256, |_, _| {
            calls += 1;
            if calls == 2 { Err("full") } else { Ok(()) }
        });
        assert_eq!((result, calls), (Err("full"), 2));
    }
}
