//! A product of matrices: checked, brought into the library's layout, queued.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_base::types::DevicePtr;
use sconce_driver::{Gemm, Matrix};
use sconce_runtime::context::{Runtime, precision, runtime};
use sconce_runtime::operand::{Operand, device_of};
use sconce_runtime::stream::{self, Stream};

use super::handle::with_handle;
use super::matrix_view::{MatrixView, ROWS};
use super::workspace_size;
use crate::copy::PackedOperand;

/// Products of matrices, row by row; see `sconce_matmul_desc`.
#[derive(Clone, Copy, Debug)]
pub struct Matmul {
    /// The type of all three.
    pub element: Dtype,
    /// Rows of `op(a)` and `c`.
    pub m: i64,
    /// Columns of `op(b)` and `c`.
    pub n: i64,
    /// Columns of `op(a)`, rows of `op(b)`.
    pub k: i64,
    /// How many products.
    pub batch: i64,
    /// What the product is multiplied by.
    pub alpha: f64,
    /// What `c` is multiplied by before.
    pub beta: f64,
    /// Whether `a`, and `b`, are stored transposed.
    pub transpose: [bool; 2],
    /// Batch, row, column as stored; all 0 is packed.
    pub a_strides: [i64; 3],
    /// Batch, row and column strides of `b`.
    pub b_strides: [i64; 3],
    /// Batch, row and column strides of `c`.
    pub c_strides: [i64; 3],
}

/// The three matrices of a product: `a` and `b` after `op`.
struct MatmulViews {
    a: MatrixView,
    b: MatrixView,
    c: MatrixView,
}

impl MatmulViews {
    fn of(request: &Matmul) -> Result<MatmulViews> {
        let Matmul { m, n, k, batch, .. } = *request;
        for (name, size) in [("m", m), ("n", n), ("k", k), ("batch", batch)] {
            if size < 0 {
                return Err(Error::invalid_argument(format!(
                    "desc.{name} is {size}; it must be at least 0"
                )));
            }
        }
        let stored = |name, rows: i64, columns: i64, transpose: bool, strides| {
            let sizes = if transpose { [batch, columns, rows] } else { [batch, rows, columns] };
            let view = MatrixView::of(name, sizes, strides)?;
            Ok(if transpose { view.transposed() } else { view })
        };
        Ok(MatmulViews {
            a: stored("a", m, k, request.transpose[0], request.a_strides)?,
            b: stored("b", k, n, request.transpose[1], request.b_strides)?,
            c: stored("c", m, n, false, request.c_strides)?,
        })
    }
}

/// Queues the product. Addresses are those of first elements.
pub fn matmul(request: &Matmul, a: usize, b: usize, c: usize) -> Result<()> {
    let runtime = runtime()?;
    let views = MatmulViews::of(request)?;
    if views.c.is_empty() {
        return Ok(());
    }
    views.c.refuse_overlap("c")?;
    refuse_unpredictable()?;
    let element = request.element.bytes();
    let operand = |name: &'static str, view: &MatrixView, address: usize| {
        let bytes = view.bytes(name, element)?;
        Ok(Operand { name, address, bytes, alignment: element })
    };
    let result = operand("c", &views.c, c)?;
    if request.k == 0 {
        let device = device_of(runtime, &[result])?;
        let stream = stream::current_on(runtime, device)?;
        return product(runtime, stream, request, &views, [c; 3]);
    }
    let factors = [operand("a", &views.a, a)?, operand("b", &views.b, b)?];
    let device = device_of(runtime, &[factors[0], factors[1], result])?;
    for (view, factor) in [&views.a, &views.b].into_iter().zip(factors) {
        if !factor.is_apart_from(&result)
            && views.c.footprint(c, element).meets(&view.footprint(factor.address, element))
        {
            return Err(overlap(factor.name));
        }
    }
    let stream = stream::current_on(runtime, device)?;
    product(runtime, stream, request, &views, [a, b, c])
}

/// The product of what has been checked.
fn product(
    runtime: &Runtime,
    stream: Stream,
    request: &Matmul,
    views: &MatmulViews,
    [a, b, c]: [usize; 3],
) -> Result<()> {
    let element = request.element.bytes();
    // `c` row by row is `c` transposed column by column, which `b` and `a` transposed give.
    let by_rows = views.c.transposed().as_columns(c);
    if let Some(result) = by_rows {
        let (first, second) = (views.b.transposed(), views.a.transposed());
        return multiply(runtime, stream, request, [(first, b), (second, a)], result, true);
    }
    if let Some(result) = views.c.as_columns(c) {
        return multiply(runtime, stream, request, [(views.a, a), (views.b, b)], result, false);
    }
    let (memory, packed) = packed_in_place_of(&views.c, c, element, stream)?;
    if request.beta != 0.0 {
        memory.load()?;
    }
    let packed = MatmulViews { c: packed, ..*views };
    product(runtime, stream, request, &packed, [a, b, memory.address().0 as usize])?;
    memory.store()
}

/// The product of factors in the library's order; `exchanged` if its rows are the caller's columns.
fn multiply(
    runtime: &Runtime,
    stream: Stream,
    request: &Matmul,
    factors: [(MatrixView, usize); 2],
    c: Matrix,
    exchanged: bool,
) -> Result<()> {
    let element = request.element.bytes();
    let mut temporaries = Vec::new();
    let mut ready = |(view, address): (MatrixView, usize)| {
        if request.k == 0 {
            // Nothing is read, but there has to be an address.
            let (column, batch) = (view.sizes[ROWS].max(1), 0);
            return Ok((false, Matrix { address: c.address, column, batch }));
        }
        if let Some(found) = view.as_factor(address) {
            return Ok(found);
        }
        let (memory, packed) = packed_in_place_of(&view, address, element, stream)?;
        memory.load()?;
        let found = packed.as_factor(memory.address().0 as usize);
        temporaries.push(memory);
        found.ok_or_else(|| Error::invalid_state("a packed matrix is not packed"))
    };
    let (transpose_a, a) = ready(factors[0])?;
    let (transpose_b, b) = ready(factors[1])?;
    let (m, n) = if exchanged { (request.n, request.m) } else { (request.m, request.n) };
    let Matmul { element, k, batch, alpha, beta, .. } = *request;
    let transpose = [transpose_a, transpose_b];
    let gemm = Gemm { element, transpose, m, n, k, batch, alpha, beta, a, b, c };
    with_handle(runtime, stream, |handle| handle.gemm(&gemm))?;
    stream::after_enqueue(runtime, stream)
}

/// Packed matrices that a product uses in place of others, and their layout.
fn packed_in_place_of(
    view: &MatrixView,
    address: usize,
    element: usize,
    stream: Stream,
) -> Result<(PackedOperand<3>, MatrixView)> {
    let packed = view.packed();
    let bytes = packed.bytes("a temporary", element)?;
    let given = (DevicePtr(address as u64), view.strides);
    let layout = (view.sizes_to_pack(), packed.strides);
    Ok((PackedOperand::new(given, layout, element, bytes, stream)?, packed))
}

/// Under deterministic algorithms cuBLAS must have a workspace with which it is deterministic.
pub(super) fn refuse_unpredictable() -> Result<()> {
    if precision::deterministic_algorithms() && !workspace_size::are_deterministic() {
        return Err(Error::invalid_state(
            "deterministic algorithms are demanded, but a product of matrices is deterministic only \
             with CUBLAS_WORKSPACE_CONFIG=:4096:8 or CUBLAS_WORKSPACE_CONFIG=:16:8 in the \
             environment; set one before the process starts",
        ));
    }
    Ok(())
}

#[cold]
fn overlap(factor: &str) -> Error {
    Error::invalid_argument(format!(
        "c overlaps {factor}, which is still read while c is written; use separate memory for c"
    ))
}
