//! A naive model of a tensor: its sizes, and for each element in row-major order its place in the storage.

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Model {
    pub(crate) sizes: Vec<i64>,
    pub(crate) places: Vec<i64>,
}

/// Every index of a shape, in row-major order.
pub(crate) fn indices(sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    for size in sizes {
        all = all
            .iter()
            .flat_map(|index| (0..*size).map(|last| [&index[..], &[last]].concat()))
            .collect();
    }
    all
}

/// The places of elements with given strides.
pub(crate) fn strided(sizes: &[i64], strides: &[i64], offset: i64) -> Vec<i64> {
    let place = |index: Vec<i64>| {
        offset + index.iter().zip(strides).map(|(at, stride)| at * stride).sum::<i64>()
    };
    indices(sizes).into_iter().map(place).collect()
}

impl Model {
    /// A dense tensor.
    pub(crate) fn dense(sizes: &[i64]) -> Model {
        let count = sizes.iter().product();
        Model { sizes: sizes.to_vec(), places: (0..count).collect() }
    }

    /// The element at an index.
    fn at(&self, index: &[i64]) -> i64 {
        let flat = index.iter().zip(&self.sizes).fold(0, |flat, (at, size)| flat * size + at);
        self.places[flat as usize]
    }

    /// A tensor of the sizes whose element at an index is this one's at the index that `of` returns.
    fn picked(&self, sizes: Vec<i64>, of: impl Fn(&[i64]) -> Vec<i64>) -> Model {
        let places = indices(&sizes).iter().map(|index| self.at(&of(index))).collect();
        Model { sizes, places }
    }

    /// The indices of a dimension from `start` on, each `step` further.
    pub(crate) fn part(&self, dim: usize, start: i64, length: i64, step: i64) -> Model {
        let mut sizes = self.sizes.clone();
        sizes[dim] = length;
        self.picked(sizes, |index| {
            let mut index = index.to_vec();
            index[dim] = start + index[dim] * step;
            index
        })
    }

    pub(crate) fn select(&self, dim: usize, at: i64) -> Model {
        let mut sizes = self.sizes.clone();
        sizes.remove(dim);
        self.picked(sizes, |index| [&index[..dim], &[at], &index[dim..]].concat())
    }

    pub(crate) fn permute(&self, order: &[usize]) -> Model {
        let sizes = order.iter().map(|dim| self.sizes[*dim]).collect();
        self.picked(sizes, |index| {
            let mut old = vec![0; index.len()];
            order.iter().zip(index).for_each(|(dim, at)| old[*dim] = *at);
            old
        })
    }

    pub(crate) fn expand(&self, sizes: &[i64]) -> Model {
        let new = sizes.len() - self.sizes.len();
        self.picked(sizes.to_vec(), |index| {
            let own = index[new..].iter().zip(&self.sizes);
            own.map(|(at, size)| if *size == 1 { 0 } else { *at }).collect()
        })
    }

    pub(crate) fn diagonal(&self, above: i64, first: usize, second: usize) -> Model {
        let others: Vec<usize> =
            (0..self.sizes.len()).filter(|dim| *dim != first && *dim != second).collect();
        let (down, right) = ((-above).max(0), above.max(0));
        let length = (self.sizes[first] - down).min(self.sizes[second] - right).max(0);
        let mut sizes: Vec<i64> = others.iter().map(|dim| self.sizes[*dim]).collect();
        sizes.push(length);
        self.picked(sizes, |index| {
            let mut old = vec![0; self.sizes.len()];
            others.iter().zip(index).for_each(|(dim, at)| old[*dim] = *at);
            let along = index[others.len()];
            (old[first], old[second]) = (along + down, along + right);
            old
        })
    }

    /// The same elements in row-major order, with other sizes.
    pub(crate) fn reshaped(&self, sizes: &[i64]) -> Model {
        assert_eq!(sizes.iter().product::<i64>(), self.places.len() as i64);
        Model { sizes: sizes.to_vec(), places: self.places.clone() }
    }

    /// Whether strides exist that reach the elements in this shape.
    pub(crate) fn has_strides(&self) -> bool {
        let Some(first) = self.places.first() else { return true };
        let stride = |dim: usize| {
            let mut index = vec![0; self.sizes.len()];
            index[dim] = 1.min(self.sizes[dim] - 1);
            self.at(&index) - first
        };
        let strides: Vec<i64> = (0..self.sizes.len()).map(stride).collect();
        strided(&self.sizes, &strides, *first) == self.places
    }

    /// The sizes without dimensions of one element.
    pub(crate) fn squeezed(&self, goes: impl Fn(usize) -> bool) -> Model {
        let stays = (0..self.sizes.len()).filter(|dim| self.sizes[*dim] != 1 || !goes(*dim));
        let sizes: Vec<i64> = stays.map(|dim| self.sizes[dim]).collect();
        self.reshaped(&sizes)
    }
}
