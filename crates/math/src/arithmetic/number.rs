//! What the numbers of every domain have in common.

use sconce_base::element::Dtype;

use super::any_number::AnyNumber;
use super::domain::Domain;
use super::operation::ElementOperation;

/// What an operation needs beside the values of its inputs.
pub(super) struct Rules<N> {
    pub(super) operation: ElementOperation,
    /// The type to which inputs are converted before the operation, and its result after it.
    pub(super) compute: Dtype,
    pub(super) parameters: [N; 3],
    /// How many elements there are.
    pub(super) count: u64,
}

/// A number of a domain.
pub(super) trait DomainNumber: Copy + Default {
    /// The type whose elements are numbers of the domain as they are.
    const OWN: Dtype;
    /// Whether numbers of a type are computed in the domain.
    #[inline(always)]
    fn computes(dtype: Dtype) -> bool {
        Domain::of(dtype) as u8 == Domain::of(Self::OWN) as u8
    }
    /// A number converted to the domain, a scalar of a caller's included. Integers are cut to the
    /// bits of `compute`.
    fn from_any(value: AnyNumber, compute: Dtype) -> Self;
    /// The number, which has the type `compute`.
    fn to_any(self, compute: Dtype) -> AnyNumber;
    /// The result of an operation that is defined on the domain.
    fn apply(rules: &Rules<Self>, inputs: [Self; 3], index: u64) -> Self;
}
