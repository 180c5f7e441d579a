//! Sizes beyond the bounds that the compiler assumes.

use std::collections::HashSet;

use super::super::expressions::Expression;
use super::choices::Choice;
use super::{Extent, Inputs, Relation, SymbolValue};

/// The least size that the compiler assumes of every dynamic dimension, also of one that was exported with less.
const ASSUMED_LEAST: i64 = 2;
/// Lower bounds above this are kept as they are, unless they come from a sum.
const MOST_RELAXED: i64 = 256;

/// What follows from the sizes of inputs.
pub(super) struct Following<'a> {
    /// Sizes and strides that occur in the source.
    pub(super) sizes: &'a [Expression],
    /// What was chosen by sizes of the example.
    pub(super) choices: &'a [Choice],
    /// Sizes of constants: an upper bound that is one of them may be the program's, which reads so many rows of one.
    pub(super) fixed: &'a HashSet<i64>,
}

impl Inputs {
    /// Decides which sizes beyond the compiler's bounds run.
    pub(super) fn relax(&mut self, following: &Following<'_>) {
        for input in 0..self.wanted.len() {
            for dim in 0..self.wanted[input].dimensions.as_ref().map_or(0, Vec::len) {
                let own = SymbolValue::Size(input, dim);
                let symbol = self.symbols.iter().position(|symbol| symbol.is == own);
                let Some(dimension) = self.wanted[input].dimensions.as_ref().map(|all| &all[dim])
                else {
                    continue;
                };
                let bounds = match (dimension.extent, &dimension.relation, symbol) {
                    (Extent::Range(least, most), _, Some(symbol)) => {
                        self.relaxed(symbol, (least, most), following)
                    }
                    // Bounds of the symbols imply those of what depends on them.
                    (extent, Some(Relation::Is(_) | Relation::OneOf(_)), _) => {
                        (extent, 0, i64::MAX)
                    }
                    (extent @ Extent::Range(..=ASSUMED_LEAST, most), ..) => (extent, 0, most),
                    (extent, ..) => (extent, extent.range().0, extent.range().1),
                };
                if let Some(dimensions) = &mut self.wanted[input].dimensions {
                    let dimension = &mut dimensions[dim];
                    (dimension.extent, dimension.least, dimension.most) = bounds;
                }
            }
        }
        self.find_ranges();
        self.show_related();
    }

    /// Shows what depends on symbols with the range that follows from theirs.
    fn show_related(&mut self) {
        let mut wanted = std::mem::take(&mut self.wanted);
        let dimensions = wanted.iter_mut().filter_map(|wanted| wanted.dimensions.as_mut());
        for dimension in dimensions.flatten() {
            if let (Extent::Range(..), Some(Relation::Is(size))) =
                (dimension.extent, &dimension.relation)
            {
                let (least, most) = self.extent_of(size).range();
                dimension.extent = Extent::Range(least, most);
            }
        }
        self.wanted = wanted;
    }

    /// The bounds of a symbol to show, and the least and the greatest value that runs.
    fn relaxed(
        &self,
        symbol: usize,
        (least, most): (i64, i64),
        following: &Following<'_>,
    ) -> (Extent, i64, i64) {
        // A bound between two values for which the choice differs.
        let is_choice = |bound: i64| {
            let Some(above) = bound.checked_add(1) else { return false };
            following.choices.iter().any(|choice| {
                let size = std::slice::from_ref(&choice.size);
                let at = |value| self.values_at(size, symbol, value).first().copied();
                at(bound).is_some_and(|size| size <= choice.greatest)
                    && at(above).is_some_and(|size| size > choice.greatest)
            })
        };
        let is_free = most != i64::MAX
            && is_choice(most)
            && !following.fixed.contains(&most)
            && !self.is_size_of_another(symbol, most);
        let most = if is_free { i64::MAX } else { most };
        if least > ASSUMED_LEAST && is_choice(least - 1) {
            let runs = self.least_that_runs(symbol, least.min(MOST_RELAXED), following.sizes);
            return (Extent::Range(ASSUMED_LEAST, most), runs, most);
        }
        let runs = match least {
            ..=ASSUMED_LEAST => 0,
            _ if least <= MOST_RELAXED && self.comes_from_sizes(symbol, least, following.sizes) => {
                self.least_that_runs(symbol, least, following.sizes)
            }
            _ => least,
        };
        (Extent::Range(least, most), runs, most)
    }

    /// Whether another input than the one that defines a symbol has a dimension of this size.
    fn is_size_of_another(&self, symbol: usize, size: i64) -> bool {
        let own = match self.symbols.get(symbol).map(|symbol| &symbol.is) {
            Some(SymbolValue::Size(input, _)) => Some(*input),
            _ => None,
        };
        let others = self.wanted.iter().enumerate().filter(|(input, _)| Some(*input) != own);
        let mut dimensions = others.filter_map(|(_, wanted)| wanted.dimensions.as_ref()).flatten();
        dimensions.any(|dimension| dimension.extent == Extent::Fixed(size))
    }

    /// Whether a size that follows from a symbol has the compiler's least value where the symbol is at its bound, and
    /// less below: then the bound comes from that size.
    fn comes_from_sizes(&self, symbol: usize, bound: i64, sizes: &[Expression]) -> bool {
        let (least, below) = (
            self.all_values_at(sizes, symbol, bound),
            self.all_values_at(sizes, symbol, bound - 1),
        );
        let mut each = least.iter().zip(&below);
        least.len() == below.len()
            && each.any(|(&least, &below)| least == ASSUMED_LEAST && below < ASSUMED_LEAST)
    }

    /// The least value of a symbol, down from a bound, for which no size that follows from it is negative.
    fn least_that_runs(&self, symbol: usize, bound: i64, sizes: &[Expression]) -> i64 {
        let count = self.all_values_at(sizes, symbol, bound).len();
        let runs = |value: &i64| {
            let sizes = self.all_values_at(sizes, symbol, *value);
            sizes.len() == count && sizes.iter().all(|&size| size >= 0)
        };
        (0..bound).rev().take_while(runs).last().unwrap_or(bound)
    }

    /// The values of expressions that follow from one symbol alone, where it has a value.
    fn values_at(&self, sizes: &[Expression], symbol: usize, value: i64) -> Vec<i64> {
        let follows = self.following(symbol);
        let symbols = self.values_with(symbol, value);
        let of = |at: usize| symbols.get(at).copied().flatten();
        let sizes = sizes.iter().filter(|size| mentions(size, &follows));
        sizes.filter_map(|size| size.value(&of)).collect()
    }

    /// As `values_at`, with those of symbols that follow.
    fn all_values_at(&self, sizes: &[Expression], symbol: usize, value: i64) -> Vec<i64> {
        let (follows, symbols) = (self.following(symbol), self.values_with(symbol, value));
        let of_symbols = symbols.into_iter().zip(follows).filter(|(_, follows)| *follows);
        let mut values = self.values_at(sizes, symbol, value);
        values.extend(of_symbols.filter_map(|(value, _)| value));
        values
    }

    /// Which symbols follow from one.
    fn following(&self, symbol: usize) -> Vec<bool> {
        let mut follows = vec![false; self.symbols.len()];
        follows[symbol] = true;
        for (at, other) in self.symbols.iter().enumerate().skip(symbol + 1) {
            if let SymbolValue::Of(value) = &other.is {
                follows[at] = mentions(value, &follows);
            }
        }
        follows
    }

    /// The values of symbols where one has a value, as far as that is enough.
    fn values_with(&self, symbol: usize, value: i64) -> Vec<Option<i64>> {
        let mut values = vec![None; self.symbols.len()];
        values[symbol] = Some(value);
        for (at, other) in self.symbols.iter().enumerate().skip(symbol + 1) {
            if let SymbolValue::Of(of) = &other.is {
                values[at] = of.value(&|before| values.get(before).copied().flatten());
            }
        }
        values
    }
}

/// Whether an expression has one of these symbols.
fn mentions(size: &Expression, symbols: &[bool]) -> bool {
    let mut mentions = false;
    size.each_symbol(&mut |symbol| mentions |= symbols.get(symbol) == Some(&true));
    mentions
}
