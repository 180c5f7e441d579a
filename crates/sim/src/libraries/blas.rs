//! Products of matrices on the CPU, as operations of simulated streams.
//!
//! A call is refused for the reasons for which cuBLAS refuses it. Everything else happens when the product
//! runs: the factors are read then. A workspace is not needed, but if there is one it is written to, so
//! that a test notices memory that other work uses by then.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::nvidia::blas_failure;
use sconce_driver::{Blas, BlasHandle, Gemm, MathMode, Matrix, StreamRef};
use sconce_math::products::Factor;

use super::compute::{Compute, calculation_ns, native_handle};
use super::reals::{self, RealNumber, address_of};
use crate::call::Call;
use crate::memory::{Accessor, DeviceMemoryView, Intent, MemoryAccess};
use crate::state::{Simulator, State};

/// `CUBLAS_STATUS_INVALID_VALUE`.
const INVALID_VALUE: i32 = 7;
const NOT_SUPPORTED: i32 = 15;
/// The alignment of a workspace's address.
const WORKSPACE_ALIGNMENT: u64 = 256;
/// How many bytes of a workspace are written at each of its ends, and their value.
const SCRIBBLED: usize = 4096;
const SCRIBBLE: u8 = 0xA5;

impl Blas for Simulator {
    fn blas_create(&self, device: DeviceIndex) -> Result<Box<dyn BlasHandle>> {
        self.inner.enter_library_on(Call::BlasCreate, device, "cuBLAS", blas_failure)?;
        Ok(Box::new(SimBlasHandle {
            inner: Arc::clone(&self.inner),
            device,
            native: native_handle(),
            stream: StreamRef::default_of(device),
            workspace: None,
            mode: MathMode::Ieee,
        }))
    }
}

/// Memory for intermediate results: address and length, which is not 0.
pub(crate) type GemmWorkspace = (u64, usize);

struct SimBlasHandle {
    inner: Arc<State>,
    device: DeviceIndex,
    native: usize,
    stream: StreamRef,
    workspace: Option<GemmWorkspace>,
    mode: MathMode,
}

impl BlasHandle for SimBlasHandle {
    fn native(&self) -> usize {
        self.native
    }

    fn set_stream(&mut self, stream: StreamRef) -> Result<()> {
        let call = Call::BlasSetStream;
        self.inner.enter_library(call, blas_failure)?;
        if stream.device != self.device {
            return Err(refused(call));
        }
        self.inner.machine.engine.lock().find(call, stream)?;
        (self.stream, self.workspace) = (stream, None);
        Ok(())
    }

    fn set_workspace(&mut self, workspace: DevicePtr, bytes: usize) -> Result<()> {
        let call = Call::BlasSetWorkspace;
        self.inner.enter_library(call, blas_failure)?;
        if bytes == 0 {
            self.workspace = None;
            return Ok(());
        }
        let space = self.inner.space.read();
        let accessor = Accessor::kernel(self.device);
        let usable = workspace.0.is_multiple_of(WORKSPACE_ALIGNMENT)
            && space.is_device_address(workspace.0 as usize)
            && space.is_usable(accessor, workspace.0, bytes as u64, Intent::Write);
        if !usable {
            return Err(refused(call));
        }
        self.workspace = Some((workspace.0, bytes));
        Ok(())
    }

    fn set_math_mode(&mut self, mode: MathMode) -> Result<()> {
        self.inner.enter_library(Call::BlasSetMathMode, blas_failure)?;
        self.mode = mode;
        Ok(())
    }

    fn is_set_to(&self, stream: StreamRef, mode: MathMode) -> bool {
        let alone = self.inner.is_left_alone(Call::BlasIsSet);
        alone && (self.stream, self.mode) == (stream, mode)
    }

    fn gemm(&mut self, gemm: &Gemm) -> Result<()> {
        let call = Call::BlasGemm;
        self.inner.enter_library(call, blas_failure)?;
        if !is_multiplied(gemm.element) {
            return Err(blas_failure(call.name(), NOT_SUPPORTED));
        }
        let sizes = sizes(gemm).ok_or_else(|| refused(call))?;
        let tf32 = self.mode == MathMode::Tf32;
        let product = QueuedProduct { gemm: *gemm, sizes, tf32, workspace: self.workspace };
        self.inner.compute(call, product, self.stream)
    }
}

fn is_multiplied(element: Dtype) -> bool {
    reals::is_calculated(element) || matches!(element, Dtype::C64 | Dtype::C128)
}

fn refused(call: Call) -> Error {
    blas_failure(call.name(), INVALID_VALUE)
}

/// Sizes and how many, if the library would take them.
fn sizes(gemm: &Gemm) -> Option<([usize; 3], usize)> {
    let Gemm { m, n, k, batch, .. } = *gemm;
    let [a_rows, b_rows] = stored_rows(gemm);
    let leading = [(gemm.a, a_rows), (gemm.b, b_rows), (gemm.c, m)];
    let valid = m >= 1
        && n >= 1
        && k >= 0
        && batch >= 1
        && leading.iter().all(|(matrix, rows)| matrix.column >= (*rows).max(1));
    let countable = [(m, n), (m, k), (k, n)].iter().all(|(rows, columns)| {
        rows.checked_mul(*columns).is_some_and(|count| count <= i64::MAX / 8)
    });
    (valid && countable).then_some(([m as usize, n as usize, k as usize], batch as usize))
}

/// Rows of the factors as they lie in memory.
fn stored_rows(gemm: &Gemm) -> [i64; 2] {
    let turned = |transpose: bool, rows: i64, columns: i64| if transpose { columns } else { rows };
    [turned(gemm.transpose[0], gemm.m, gemm.k), turned(gemm.transpose[1], gemm.k, gemm.n)]
}

/// The memory that a product uses; none if the library refuses it.
pub(crate) fn accesses(gemm: &Gemm, workspace: Option<GemmWorkspace>) -> Vec<MemoryAccess> {
    let Some(([m, n, k], batch)) = sizes(gemm) else { return Vec::new() };
    let element = gemm.element.bytes() as i64;
    let matrix = |intent, matrix: &Matrix, rows: usize, columns: usize| {
        let column = (columns as u64, matrix.column.wrapping_mul(element));
        let each = (batch as u64, matrix.batch.wrapping_mul(element));
        let run = rows as u64 * element as u64;
        MemoryAccess::strided(intent, matrix.address.0, run, [column, each])
    };
    let mut accesses = vec![matrix(Intent::Write, &gemm.c, m, n)];
    if gemm.beta != 0.0 {
        accesses.push(matrix(Intent::Read, &gemm.c, m, n));
    }
    if gemm.alpha != 0.0 && k > 0 {
        let [a_rows, b_rows] = stored_rows(gemm).map(|rows| rows as usize);
        accesses.push(matrix(Intent::Read, &gemm.a, a_rows, m * k / a_rows));
        accesses.push(matrix(Intent::Read, &gemm.b, b_rows, k * n / b_rows));
    }
    if let Some((address, bytes)) = workspace {
        accesses.push(MemoryAccess::range(Intent::Write, address, bytes as u64));
    }
    accesses
}

/// A product that is queued.
struct QueuedProduct {
    gemm: Gemm,
    /// `m`, `n` and `k`, and how many products.
    sizes: ([usize; 3], usize),
    tf32: bool,
    workspace: Option<GemmWorkspace>,
}

impl Compute for QueuedProduct {
    fn duration_ns(&self, latency_ns: u64) -> u64 {
        let ([m, n, k], batch) = self.sizes;
        latency_ns.saturating_add(calculation_ns(&[m, n, k, batch]))
    }

    fn accesses(&self) -> Vec<MemoryAccess> {
        accesses(&self.gemm, self.workspace)
    }

    fn run(&self, memory: &DeviceMemoryView<'_>) -> std::result::Result<(), i32> {
        if let Some(workspace) = self.workspace {
            scribble(memory, workspace)?;
        }
        match self.gemm.element.real().0 {
            Dtype::F64 => self.calculate::<f64>(memory),
            _ => self.calculate::<f32>(memory),
        }
    }
}

impl QueuedProduct {
    fn calculate<T: RealNumber>(
        &self,
        memory: &DeviceMemoryView<'_>,
    ) -> std::result::Result<(), i32> {
        let (gemm, (sizes, batch)) = (&self.gemm, self.sizes);
        let [m, n, mut k] = sizes;
        // As in cuBLAS, factors that do not matter are not read.
        k *= usize::from(gemm.alpha != 0.0);
        let [a_rows, b_rows] = stored_rows(gemm).map(|rows| rows as usize);
        let (element, (part, parts)) = (gemm.element, gemm.element.real());
        let tf32 = self.tf32 && part == Dtype::F32;
        let (alpha, beta) = (T::from_f64(gemm.alpha), T::from_f64(gemm.beta));
        let mut a = LoadedMatrix::<T>::new(gemm.a, element, a_rows, m * k);
        let mut b = LoadedMatrix::<T>::new(gemm.b, element, b_rows, k * n);
        let mut c = LoadedMatrix::<T>::new(gemm.c, element, m, m * n);
        for index in 0..batch as i64 {
            a.load(memory, index, tf32)?;
            b.load(memory, index, tf32)?;
            c.forget();
            match gemm.beta == 0.0 {
                true => c.make_values(memory, index)?,
                false => c.load(memory, index, false)?,
            }
            let a = Factor { values: &a.values, transposed: gemm.transpose[0] };
            let b = Factor { values: &b.values, transposed: gemm.transpose[1] };
            let product = if parts == 1 { reals::product } else { reals::complex_product };
            product([m, n, k], alpha, a, b, beta, &mut c.values)?;
            c.store(memory, index)?;
        }
        Ok(())
    }
}

/// A matrix of a batch as it was read from memory, without gaps.
struct LoadedMatrix<T> {
    matrix: Matrix,
    element: Dtype,
    /// How many elements follow each other: a column, or all if there are no gaps.
    run: usize,
    count: usize,
    /// The address of the matrix that was read last.
    at: Option<u64>,
    /// The elements, each as its parts.
    values: Vec<T>,
}

impl<T: RealNumber> LoadedMatrix<T> {
    fn new(matrix: Matrix, element: Dtype, rows: usize, count: usize) -> LoadedMatrix<T> {
        let run = if matrix.column == rows as i64 { count } else { rows };
        LoadedMatrix { matrix, element, run: run.max(1), count, at: None, values: Vec::new() }
    }

    fn forget(&mut self) {
        self.at = None;
    }

    /// Where a run begins.
    fn address(&self, index: i64, run: usize) -> std::result::Result<u64, i32> {
        let before = self.matrix.batch.checked_mul(index);
        let inside = self.matrix.column.checked_mul(run as i64);
        let offset = before.zip(inside).and_then(|(before, inside)| before.checked_add(inside));
        // An offset that overflows lies outside all memory.
        address_of(self.matrix.address.0, self.element, offset.unwrap_or(i64::MAX))
    }

    /// Makes the values of a matrix, once all of its memory is known to exist.
    fn make_values(
        &mut self,
        memory: &DeviceMemoryView<'_>,
        index: i64,
    ) -> std::result::Result<(), i32> {
        for run in 0..self.count / self.run {
            let bytes = self.run * self.element.bytes();
            memory.covers(self.address(index, run)?, bytes as u64)?;
        }
        if self.values.is_empty() {
            let (_, parts) = self.element.real();
            self.values = reals::zeros(self.count * parts as usize)?;
        }
        Ok(())
    }

    /// Reads a matrix of the batch, unless it is the one that was read last.
    fn load(
        &mut self,
        memory: &DeviceMemoryView<'_>,
        index: i64,
        tf32: bool,
    ) -> std::result::Result<(), i32> {
        let first = self.address(index, 0)?;
        if self.at == Some(first) {
            return Ok(());
        }
        self.make_values(memory, index)?;
        let (part, parts) = self.element.real();
        for run in 0..self.count / self.run {
            let address = self.address(index, run)?;
            let length = self.run * parts as usize;
            let values = &mut self.values[run * length..][..length];
            reals::read(memory, part, address, values)?;
        }
        if tf32 {
            self.values.iter_mut().for_each(|value| *value = value.to_tf32());
        }
        self.at = Some(first);
        Ok(())
    }

    fn store(&self, memory: &DeviceMemoryView<'_>, index: i64) -> std::result::Result<(), i32> {
        let (part, parts) = self.element.real();
        for (run, values) in self.values.chunks(self.run * parts as usize).enumerate() {
            reals::write(memory, part, self.address(index, run)?, values)?;
        }
        Ok(())
    }
}

/// Overwrites the beginning and the end of a workspace, as a product would.
fn scribble(
    memory: &DeviceMemoryView<'_>,
    (address, bytes): GemmWorkspace,
) -> std::result::Result<(), i32> {
    let piece = [SCRIBBLE; SCRIBBLED];
    let part = bytes.min(SCRIBBLED);
    memory.write(address, &piece[..part])?;
    memory.write(address + (bytes - part) as u64, &piece[..part])
}
