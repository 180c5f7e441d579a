//! Strides that a source does not say.

use super::super::expressions::Expression;
use super::{Extent, Inputs, Relation, SymbolValue};

impl Inputs {
    /// Finds out the strides that the source leaves open, which are no numbers: those of elements that lie one after
    /// another, if the other strides are, too, in any order of the dimensions.
    pub(super) fn make_dense(&mut self, input: usize) {
        let symbols = &self.symbols;
        let defined = |is: SymbolValue| symbols.iter().position(|symbol| symbol.is == is);
        let Some(dimensions) = &mut self.wanted[input].dimensions else { return };
        let is_free = |dim| defined(SymbolValue::Stride(input, dim)).is_some();
        if dimensions.iter().enumerate().any(|(dim, it)| it.stride.is_none() && is_free(dim)) {
            return;
        }
        let sizes: Option<Vec<Expression>> = dimensions
            .iter()
            .enumerate()
            .map(|(dim, dimension)| match (&dimension.extent, &dimension.relation) {
                (Extent::Fixed(size), _) => Some(Expression::Number(*size)),
                (_, Some(Relation::Is(size))) => Some(size.clone()),
                (_, None) => defined(SymbolValue::Size(input, dim)).map(Expression::Symbol),
                _ => None,
            })
            .collect();
        let Some(sizes) = sizes else { return };
        let mut strides: Vec<Option<Expression>> = vec![None; dimensions.len()];
        let mut step: Vec<Expression> = Vec::new();
        // The stride of a single element may be any.
        let single = |dim: &usize| sizes[*dim] == Expression::Number(1);
        for _ in (0..sizes.len()).filter(|dim| !single(dim)) {
            let product = match step.len() {
                0 => Expression::Number(1),
                1 => step[0].clone(),
                _ => Expression::Product(step.clone()),
            };
            let number = product.value(&|_| None).map(Expression::Number);
            let left = |dim: &usize| strides[*dim].is_none() && !single(dim);
            let known = (0..sizes.len())
                .rev()
                .filter(left)
                .find(|dim| number.is_some() && dimensions[*dim].stride == number);
            let open = || {
                (0..sizes.len()).rev().filter(left).find(|dim| dimensions[*dim].stride.is_none())
            };
            let Some(next) = known.or_else(open) else { return };
            strides[next] = Some(number.unwrap_or(product));
            step.push(sizes[next].clone());
        }
        for (dimension, stride) in dimensions.iter_mut().zip(strides) {
            dimension.stride = stride.or_else(|| dimension.stride.take());
        }
    }
}
