//! From matrices with strides to what libraries such as cuBLAS take, which count column by column.

use crate::copy::Axis;
use crate::driver::Matrix;
use crate::error::{Error, Result};
use crate::footprint::{Fold, Footprint, fold};
use crate::types::DevicePtr;

/// Places in sizes and strides.
const BATCH: usize = 0;
pub(super) const ROWS: usize = 1;
const COLUMNS: usize = 2;

/// A batch of matrices with strides, which are not negative and count elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) sizes: [i64; 3],
    pub(super) strides: [i64; 3],
}

impl View {
    /// The matrices that the caller calls `name`, as they are stored.
    pub(super) fn of(name: &str, sizes: [i64; 3], strides: [i64; 3]) -> Result<View> {
        if let Some(at) = strides.iter().position(|stride| *stride < 0) {
            return Err(Error::invalid_argument(format!(
                "desc.{name}_strides[{at}] is {}; strides must not be negative: copy the matrix \
                 with sconce_copy_strided first",
                strides[at]
            )));
        }
        let packed = packed(sizes).ok_or_else(|| too_large(name))?;
        let strides = if strides == [0; 3] { packed } else { strides };
        Ok(View { sizes, strides })
    }

    /// Packed matrices of the same sizes, but of one matrix only where all are the same one.
    pub(super) fn packed(&self) -> View {
        let mut sizes = self.sizes;
        if self.strides[BATCH] == 0 {
            sizes[BATCH] = sizes[BATCH].min(1);
        }
        let mut strides = packed(sizes).unwrap_or_default();
        if self.strides[BATCH] == 0 {
            strides[BATCH] = 0;
        }
        View { sizes: self.sizes, strides }
    }

    /// The same elements with rows for columns.
    pub(super) fn transposed(self) -> View {
        let swap = |[batch, rows, columns]: [i64; 3]| [batch, columns, rows];
        View { sizes: swap(self.sizes), strides: swap(self.strides) }
    }

    /// Whether there are no elements.
    pub(super) fn is_empty(&self) -> bool {
        self.sizes.contains(&0)
    }

    /// The number of elements from the first one to the end of the last one.
    #[inline]
    fn extent(&self) -> Option<i64> {
        let mut extent = 1_i64;
        for (size, stride) in self.sizes.into_iter().zip(self.strides) {
            if size > 1 {
                extent = (size - 1).checked_mul(stride)?.checked_add(extent)?;
            }
        }
        Some(extent)
    }

    /// The number of bytes from the first element to the end of the last one.
    #[inline]
    pub(super) fn bytes(&self, name: &str, element: usize) -> Result<usize> {
        let bytes = self.extent().and_then(|extent| extent.checked_mul(element as i64));
        bytes.map(|bytes| bytes as usize).ok_or_else(|| too_large(name))
    }

    /// Whether each row lies behind the one before it, and each matrix behind the one before it.
    #[inline]
    fn is_in_order(&self) -> bool {
        let [batch, rows, columns] = self.sizes;
        let [matrix, row, column] = self.strides;
        let behind = |stride: i64, count: i64, inner: i64| {
            count.checked_mul(inner).is_some_and(|span| stride >= span)
        };
        column >= 1 && behind(row, columns, column) && (batch <= 1 || behind(matrix, rows, row))
    }

    /// Refuses matrices of which two places may be one.
    #[inline]
    pub(super) fn refuse_overlap(&self, name: &str) -> Result<()> {
        if self.is_in_order() {
            return Ok(());
        }
        self.refuse_fold(name)
    }

    #[inline(never)]
    fn refuse_fold(&self, name: &str) -> Result<()> {
        match fold(&self.sizes, &self.strides) {
            None => Ok(()),
            Some(Fold { axis, span }) => Err(Error::invalid_argument(format!(
                "desc.{name}_strides: {name} overlaps itself: along {} elements the stride is {}, \
                 but what lies within spans {span} elements; give it memory where each stride is at \
                 least that",
                self.sizes[axis], self.strides[axis]
            ))),
        }
    }

    /// Where the elements lie, if the first is at an address.
    pub(super) fn footprint(&self, address: usize, element: usize) -> Footprint<'_> {
        Footprint { address, element, sizes: &self.sizes, strides: &self.strides }
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

    /// The same, or their rows are, and the library has to transpose them.
    pub(super) fn as_factor(&self, address: usize) -> Option<(bool, Matrix)> {
        let as_they_are = self.as_columns(address).map(|matrix| (false, matrix));
        as_they_are.or_else(|| self.transposed().as_columns(address).map(|matrix| (true, matrix)))
    }

    /// The axes of a copy between these matrices and packed ones; see [`View::packed`].
    pub(super) fn axes(&self, packed: &View, into_packed: bool) -> [Axis; 3] {
        let axis = |at: usize| {
            let repeated = at == BATCH && packed.strides[BATCH] == 0;
            let size = if repeated { 1 } else { self.sizes[at].unsigned_abs() };
            let (dst, src) = if into_packed { (packed, self) } else { (self, packed) };
            Axis { size, dst_stride: dst.strides[at], src_stride: src.strides[at] }
        };
        [axis(BATCH), axis(ROWS), axis(COLUMNS)]
    }
}

/// The strides of packed matrices.
fn packed([batch, rows, columns]: [i64; 3]) -> Option<[i64; 3]> {
    let matrix = rows.checked_mul(columns)?;
    batch.checked_mul(matrix)?;
    Some([matrix, columns, 1])
}

#[cold]
fn too_large(name: &str) -> Error {
    Error::invalid_argument(format!(
        "desc: the sizes and strides of {name} reach further than addresses do"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(sizes: [i64; 3], strides: [i64; 3]) -> View {
        View { sizes, strides }
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
        let packed = View::of("a", [4, 3, 2], [0; 3]).unwrap();
        assert_eq!(packed.strides, [6, 2, 1]);
        let error = View::of("a", [4, 3, 2], [6, -2, 1]).unwrap_err();
        assert!(error.message().contains("desc.a_strides[1] is -2"), "{error}");
        assert!(View::of("a", [i64::MAX, 2, 2], [0; 3]).is_err());
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
        let axes = repeated.axes(&packed, true);
        assert_eq!(axes.map(|axis| axis.size), [1, 3, 2]);
        assert_eq!(axes.map(|axis| axis.src_stride), [0, 4, 2]);
        assert_eq!(axes.map(|axis| axis.dst_stride), [0, 2, 1]);
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
        // The short way says nothing else than the long one.
        let (mut in_order, mut other) = (0, 0);
        for at in 0..3 * 3 * 3 * 6 * 6 * 6 {
            let digit = |place: i64, base: i64| at / place % base;
            let sizes = [digit(1, 3) + 1, digit(3, 3) + 1, digit(9, 3) + 1];
            let strides = [digit(27, 6) * 2, digit(162, 6), digit(972, 6)];
            let view = view(sizes, strides);
            *(if view.is_in_order() { &mut in_order } else { &mut other }) += 1;
            assert_eq!(
                view.refuse_overlap("c").is_err(),
                fold(&sizes, &strides).is_some(),
                "{view:?}"
            );
        }
        assert!(in_order > 100 && other > 100, "{in_order} {other}");
    }
}
