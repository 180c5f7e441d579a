//! From matrices with strides to what libraries such as cuBLAS take, which count column by column.

use sconce_base::error::{Error, Result};
use sconce_base::strided::{Footprint, Overlap, StridedView, row_major};
use sconce_base::types::DevicePtr;
use sconce_driver::Matrix;

/// Places in sizes and strides.
const BATCH: usize = 0;
pub(super) const ROWS: usize = 1;

/// A batch of matrices with strides, which are not negative and count elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MatrixView {
    pub(super) sizes: [i64; 3],
    pub(super) strides: [i64; 3],
}

impl MatrixView {
    /// The matrices that the caller calls `name`, as they are stored.
    pub(super) fn of(name: &str, sizes: [i64; 3], strides: [i64; 3]) -> Result<MatrixView> {
        if let Some(at) = strides.iter().position(|stride| *stride < 0) {
            return Err(Error::invalid_argument(format!(
                "desc.{name}_strides[{at}] is {}; strides must not be negative: copy the matrix \
                 with sconce_copy_strided first",
                strides[at]
            )));
        }
        let (packed, _) = row_major(&sizes).ok_or_else(|| too_large(name))?;
        let strides = if strides == [0; 3] { packed } else { strides };
        Ok(MatrixView { sizes, strides })
    }

    /// Packed matrices of the same sizes, but of one matrix only where all are the same one.
    pub(super) fn packed(&self) -> MatrixView {
        let packed = row_major(&self.sizes_to_pack());
        let mut strides = packed.map_or([0; 3], |(strides, _)| strides);
        if self.strides[BATCH] == 0 {
            strides[BATCH] = 0;
        }
        MatrixView { sizes: self.sizes, strides }
    }

    /// The transposed matrices: these elements with rows for columns.
    pub(super) fn transposed(self) -> MatrixView {
        let swap = |[batch, rows, columns]: [i64; 3]| [batch, columns, rows];
        MatrixView { sizes: swap(self.sizes), strides: swap(self.strides) }
    }

    /// Whether there are no elements.
    pub(super) fn is_empty(&self) -> bool {
        self.sizes.contains(&0)
    }

    fn view(&self) -> StridedView<'_> {
        StridedView::new(&self.sizes, &self.strides)
    }

    /// The number of bytes from the first element to the end of the last one.
    #[inline]
    pub(super) fn bytes(&self, name: &str, element: usize) -> Result<usize> {
        let span = self.view().byte_span(element as i64);
        span.map(|span| span.bytes as usize).ok_or_else(|| too_large(name))
    }

    /// Refuses matrices of which two places may be one.
    #[inline]
    pub(super) fn refuse_overlap(&self, name: &str) -> Result<()> {
        match self.view().overlap() {
            None => Ok(()),
            Some(overlap) => Err(self.overlaps_itself(name, overlap)),
        }
    }

    #[cold]
    fn overlaps_itself(&self, name: &str, Overlap { axis, span }: Overlap) -> Error {
        Error::invalid_argument(format!(
            "desc.{name}_strides: {name} overlaps itself: along {} elements the stride is {}, but \
             the axes with smaller strides span {span} elements; use memory in which each stride is at least that",
            self.sizes[axis], self.strides[axis]
        ))
    }

    /// Where the elements lie, if the first is at an address.
    pub(super) fn footprint(&self, address: usize, element: usize) -> Footprint<'_> {
        Footprint { address, element, view: self.view() }
    }

    /// How far apart columns begin, if the elements of each column are side by side.
    fn column(&self) -> Option<i64> {
        let [_, rows, columns] = self.sizes;
        let [_, row, column] = self.strides;
        // A stride along which there is one place only says nothing.
        let column = if columns > 1 { column } else { rows.max(1) };
        ((rows <= 1 || row == 1) && column >= rows.max(1)).then_some(column)
    }

    /// The matrices from an address on, if their columns are packed.
    pub(super) fn as_columns(&self, address: usize) -> Option<Matrix> {
        let batch = if self.sizes[BATCH] > 1 { self.strides[BATCH] } else { 0 };
        let address = DevicePtr(address as u64);
        self.column().map(|column| Matrix { address, column, batch })
    }

    /// The matrices from an address on, if their columns are packed, or if their rows are. In the second case
    /// the first value is true, and the library has to transpose them.
    pub(super) fn as_factor(&self, address: usize) -> Option<(bool, Matrix)> {
        let as_they_are = self.as_columns(address).map(|matrix| (false, matrix));
        as_they_are.or_else(|| self.transposed().as_columns(address).map(|matrix| (true, matrix)))
    }

    /// The sizes of what is copied to packed matrices: of repeated matrices the first only.
    pub(super) fn sizes_to_pack(&self) -> [i64; 3] {
        let [batch, rows, columns] = self.sizes;
        let batch = if self.strides[BATCH] == 0 { batch.min(1) } else { batch };
        [batch, rows, columns]
    }
}

#[cold]
fn too_large(name: &str) -> Error {
    Error::invalid_argument(format!(
        "desc: the sizes and strides of {name} reach beyond the address space"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: usize = 2;

    fn view(sizes: [i64; 3], strides: [i64; 3]) -> MatrixView {
        MatrixView { sizes, strides }
    }

    #[test]
    fn what_the_library_is_told_names_the_same_elements() {
        let mut seed = 1_u64;
        let mut random = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((seed >> 33) % most) as i64
        };
        let (mut found, mut refused) = (0, 0);
        for _ in 0..20_000 {
            let sizes = [1 + random(2), 1 + random(3), 1 + random(3)];
            let view = view(sizes, [random(8), random(5), random(5)]);
            let [batch, row, column] = view.strides;
            let Some((transposed, matrix)) = view.as_factor(100) else {
                // There is no stride of 1 that reaches past an element, or the other is too small.
                let packed = |one: usize, other: usize| {
                    (sizes[one] == 1 || view.strides[one] == 1)
                        && (sizes[other] == 1 || view.strides[other] >= sizes[one])
                };
                assert!(!packed(ROWS, COLUMNS) && !packed(COLUMNS, ROWS), "{view:?}");
                refused += 1;
                continue;
            };
            found += 1;
            let rows = if transposed { sizes[COLUMNS] } else { sizes[ROWS] };
            assert!(matrix.column >= rows, "{view:?}: {matrix:?}");
            for (i, j, l) in (0..sizes[0]).flat_map(|i| {
                (0..sizes[1]).flat_map(move |j| (0..sizes[2]).map(move |l| (i, j, l)))
            }) {
                let (inner, outer) = if transposed { (l, j) } else { (j, l) };
                let told = i * matrix.batch + inner + outer * matrix.column;
                assert_eq!(told, i * batch + j * row + l * column, "{view:?}: {matrix:?}");
            }
        }
        assert!(found > 5000 && refused > 5000, "{found} {refused}");
    }

    #[test]
    fn strides_of_nothing_but_0_are_packed_and_negative_ones_refused() {
        let packed = MatrixView::of("a", [4, 3, 2], [0; 3]).unwrap();
        assert_eq!(packed.strides, [6, 2, 1]);
        let error = MatrixView::of("a", [4, 3, 2], [6, -2, 1]).unwrap_err();
        assert!(error.message().contains("desc.a_strides[1] is -2"), "{error}");
        assert!(MatrixView::of("a", [i64::MAX, 2, 2], [0; 3]).is_err());
        let far = view([i64::MAX; 3], [i64::MAX; 3]);
        assert!(far.bytes("a", 8).is_err());
        assert!(view([2, 1, 1], [i64::MAX, 1, 1]).bytes("a", 8).is_err());
        assert_eq!(view([2, 1, 3], [0, 9, 5]).bytes("a", 8).unwrap(), 88);
    }

    #[test]
    fn a_repeated_matrix_is_packed_once() {
        let repeated = view([5, 3, 2], [0, 4, 2]);
        let packed = repeated.packed();
        assert_eq!((packed.sizes, packed.strides), ([5, 3, 2], [0, 2, 1]));
        assert_eq!(packed.bytes("a", 4).unwrap(), 24);
        assert_eq!((repeated.sizes_to_pack(), packed.sizes_to_pack()), ([1, 3, 2], [1, 3, 2]));
    }

    #[test]
    fn overlapping_places_are_refused_and_views_of_one_matrix_are_not() {
        let refused = |sizes, strides| view(sizes, strides).refuse_overlap("c").is_err();
        assert!(refused([2, 3, 4], [0, 4, 1]));
        assert!(refused([1, 3, 4], [0, 3, 1]));
        assert!(refused([2, i64::MAX, 3], [1, i64::MAX, 1]));
        assert!(!refused([1, 3, 4], [0, 4, 1]));
        assert!(!refused([2, 3, 4], [4, 8, 1]));
        assert!(!refused([2, 3, 1], [1, 2, 0]));
    }
}
