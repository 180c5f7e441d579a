//! A call in NCCL's functions. Calls that NCCL has had only since 2.28 are groups of sends and receives.

use std::ffi::{c_int, c_void};

use cudarc::driver::sys::CUstream;
use sconce_base::element::narrow_bits;
use sconce_base::element::{Dtype, bf16_bits, f16_bits};
use sconce_base::error::{Error, Result};
use sconce_base::types::DevicePtr;
use sconce_driver::{CommCall, CommOp, CommParts};

use super::functions::{CommFunctions, NcclComm};
use super::{check, end_group, start_group, version};

/// `ncclScalarHostImmediate`.
const IN_HOST_MEMORY: c_int = 1;
/// The oldest version that has 8-bit floating-point types.
const NARROW_FLOATS: i32 = 22_400;

/// Where a call goes.
pub(super) struct Target<'a> {
    pub(super) functions: &'a CommFunctions,
    pub(super) comm: NcclComm,
    pub(super) stream: CUstream,
    pub(super) rank: usize,
}

/// `ncclDataType_t`.
fn type_of(dtype: Dtype) -> Result<c_int> {
    Ok(match dtype {
        Dtype::I8 => 0,
        Dtype::U8 => 1,
        Dtype::I32 => 2,
        Dtype::U32 => 3,
        Dtype::I64 => 4,
        Dtype::U64 => 5,
        Dtype::F16 => 6,
        Dtype::F32 => 7,
        Dtype::F64 => 8,
        Dtype::Bf16 => 9,
        Dtype::F8E4M3Fn => 10,
        Dtype::F8E5M2 => 11,
        other => {
            let why = format!("NCCL has no elements of {}", other.name());
            return Err(Error::not_supported(why));
        }
    })
}

/// The bytes of a factor in a type.
fn factor_bytes(factor: f64, dtype: Dtype) -> [u8; 8] {
    let mut bytes = [0; 8];
    let mut put = |from: &[u8]| bytes[..from.len()].copy_from_slice(from);
    match dtype {
        Dtype::F64 => put(&factor.to_le_bytes()),
        Dtype::F32 => put(&(factor as f32).to_le_bytes()),
        Dtype::F16 => put(&f16_bits(factor as f32).to_le_bytes()),
        Dtype::Bf16 => put(&bf16_bits(factor as f32).to_le_bytes()),
        Dtype::F8E4M3Fn | Dtype::F8E5M2 => put(&[narrow_bits(factor as f32, dtype)]),
        Dtype::U64 => put(&(factor as u64).to_le_bytes()),
        Dtype::U32 => put(&(factor as u32).to_le_bytes()),
        Dtype::U8 => put(&[factor as u8]),
        _ => put(&(factor as i64).to_le_bytes()),
    }
    bytes
}

fn read(address: DevicePtr) -> *const c_void {
    address.0 as *const c_void
}

fn write(address: DevicePtr) -> *mut c_void {
    address.0 as *mut c_void
}

impl Target<'_> {
    fn check(&self, call: &str, code: i32) -> Result<()> {
        check(self.functions, call, code)
    }

    /// The type of elements that are reduced.
    #[inline]
    fn reduced(&self, dtype: Dtype) -> Result<c_int> {
        if matches!(dtype, Dtype::F8E4M3Fn | Dtype::F8E5M2) {
            let version = version(self.functions)?;
            if version < NARROW_FLOATS {
                return Err(Error::not_supported(format!(
                    "the installed NCCL is version {version}; reductions of {} need {NARROW_FLOATS} or newer",
                    dtype.name()
                )));
            }
        }
        type_of(dtype)
    }

    /// Queues a call.
    #[inline]
    pub(super) fn queue(&self, call: &CommCall) -> Result<()> {
        match call {
            CommCall::AllReduce { send, recv, count, dtype, op } => {
                let (kind, all_reduce) = (self.reduced(*dtype)?, self.functions.ncclAllReduce()?);
                self.with_op(*op, *dtype, |op| {
                    let (send, recv) = (read(*send), write(*recv));
                    // SAFETY: a live communicator and a stream of its device; the caller has checked the addresses.
                    let code =
                        unsafe { all_reduce(send, recv, *count, kind, op, self.comm, self.stream) };
                    self.check("ncclAllReduce", code)
                })
            }
            CommCall::Reduce { send, recv, count, dtype, op, root } => {
                let (kind, reduce) = (self.reduced(*dtype)?, self.functions.ncclReduce()?);
                let root = *root as c_int;
                self.with_op(*op, *dtype, |op| {
                    let (send, recv) = (read(*send), write(*recv));
                    // SAFETY: a live communicator and a stream of its device; the caller has checked that `count`
                    // elements are at `send`, and at the root's `recv`.
                    let code = unsafe {
                        reduce(send, recv, *count, kind, op, root, self.comm, self.stream)
                    };
                    self.check("ncclReduce", code)
                })
            }
            CommCall::ReduceScatter { send, recv, count, dtype, op } => {
                let (kind, scatter) = (self.reduced(*dtype)?, self.functions.ncclReduceScatter()?);
                self.with_op(*op, *dtype, |op| {
                    let (send, recv) = (read(*send), write(*recv));
                    // SAFETY: a live communicator and a stream of its device; the caller has checked that `count`
                    // elements for each rank are at `send`, and `count` at `recv`.
                    let code =
                        unsafe { scatter(send, recv, *count, kind, op, self.comm, self.stream) };
                    self.check("ncclReduceScatter", code)
                })
            }
            CommCall::Broadcast { send, recv, count, dtype, root } => {
                let (kind, broadcast) = (type_of(*dtype)?, self.functions.ncclBroadcast()?);
                let (send, recv, root) = (read(*send), write(*recv), *root as c_int);
                // SAFETY: a live communicator and a stream of its device; the caller has checked that `count` elements
                // are at `recv`, and at the root's `send`.
                let code =
                    unsafe { broadcast(send, recv, *count, kind, root, self.comm, self.stream) };
                self.check("ncclBroadcast", code)
            }
            CommCall::AllGather { send, recv, count, dtype } => {
                let (kind, gather) = (type_of(*dtype)?, self.functions.ncclAllGather()?);
                let (send, recv) = (read(*send), write(*recv));
                // SAFETY: a live communicator and a stream of its device; the caller has checked that `count` elements
                // are at `send`, and `count` for each rank at `recv`.
                let code = unsafe { gather(send, recv, *count, kind, self.comm, self.stream) };
                self.check("ncclAllGather", code)
            }
            CommCall::AllToAll { send, recv, dtype } => self.all_to_all(send, recv, *dtype),
            CommCall::Gather { send, recv, count, dtype, root } => self.group(|| {
                self.send(*send, *count, *dtype, *root)?;
                if self.rank == *root {
                    for (rank, part) in self.parts(*recv, *count, *dtype)?.enumerate() {
                        self.recv(part, *count, *dtype, rank)?;
                    }
                }
                Ok(())
            }),
            CommCall::Scatter { send, recv, count, dtype, root } => self.group(|| {
                self.recv(*recv, *count, *dtype, *root)?;
                if self.rank == *root {
                    for (rank, part) in self.parts(*send, *count, *dtype)?.enumerate() {
                        self.send(part, *count, *dtype, rank)?;
                    }
                }
                Ok(())
            }),
            CommCall::Send { send, count, dtype, peer } => self.send(*send, *count, *dtype, *peer),
            CommCall::Recv { recv, count, dtype, peer } => self.recv(*recv, *count, *dtype, *peer),
        }
    }

    /// The addresses of the parts of all ranks, one behind the other.
    fn parts(
        &self,
        base: DevicePtr,
        count: usize,
        dtype: Dtype,
    ) -> Result<impl Iterator<Item = DevicePtr>> {
        let mut ranks = 0;
        // SAFETY: a live communicator; the place outlives the call.
        let code = unsafe { self.functions.ncclCommCount()?(self.comm, &mut ranks) };
        self.check("ncclCommCount", code)?;
        let bytes = (count * dtype.bytes()) as u64;
        Ok((0..ranks as u64).map(move |rank| DevicePtr(base.0 + rank * bytes)))
    }

    fn all_to_all(&self, send: &CommParts, recv: &CommParts, dtype: Dtype) -> Result<()> {
        let bytes = dtype.bytes();
        let place = |base: DevicePtr, offset: usize| DevicePtr(base.0 + (offset * bytes) as u64);
        self.group(|| {
            for (rank, (to, from)) in send.parts.iter().zip(&recv.parts).enumerate() {
                // Both sides know the count, so a part without elements needs no call.
                if to.1 > 0 {
                    self.send(place(send.base, to.0), to.1, dtype, rank)?;
                }
                if from.1 > 0 {
                    self.recv(place(recv.base, from.0), from.1, dtype, rank)?;
                }
            }
            Ok(())
        })
    }

    fn group(&self, body: impl FnOnce() -> Result<()>) -> Result<()> {
        start_group(self.functions)?;
        let result = body();
        // The group ends in any case; else the thread would stay in it.
        result.and(end_group(self.functions))
    }

    fn send(&self, send: DevicePtr, count: usize, dtype: Dtype, peer: usize) -> Result<()> {
        let (kind, peer, function) = (type_of(dtype)?, peer as c_int, self.functions.ncclSend()?);
        // SAFETY: a live communicator and a stream of its device; every call that is made of sends has had its
        // addresses checked, and this part lies within them.
        let code = unsafe { function(read(send), count, kind, peer, self.comm, self.stream) };
        self.check("ncclSend", code)
    }

    fn recv(&self, recv: DevicePtr, count: usize, dtype: Dtype, peer: usize) -> Result<()> {
        let (kind, peer, function) = (type_of(dtype)?, peer as c_int, self.functions.ncclRecv()?);
        // SAFETY: a live communicator and a stream of its device; every call that is made of receives has had its
        // addresses checked, and this part lies within them.
        let code = unsafe { function(write(recv), count, kind, peer, self.comm, self.stream) };
        self.check("ncclRecv", code)
    }

    /// Makes a call with NCCL's number of an operation.
    #[inline]
    fn with_op(
        &self,
        op: CommOp,
        dtype: Dtype,
        body: impl FnOnce(c_int) -> Result<()>,
    ) -> Result<()> {
        let factor = match op {
            CommOp::Sum => return body(0),
            CommOp::Prod => return body(1),
            CommOp::Max => return body(2),
            CommOp::Min => return body(3),
            CommOp::Avg => return body(4),
            CommOp::PremulSum(factor) => factor,
        };
        let (create, destroy) =
            (self.functions.ncclRedOpCreatePreMulSum()?, self.functions.ncclRedOpDestroy()?);
        let (mut factor, kind) = (factor_bytes(factor, dtype), type_of(dtype)?);
        let mut op = 0;
        let place = factor.as_mut_ptr().cast();
        // SAFETY: a live communicator; the factor has as many bytes as any type, and is read at once.
        let code = unsafe { create(&mut op, place, kind, IN_HOST_MEMORY, self.comm) };
        self.check("ncclRedOpCreatePreMulSum", code)?;
        let result = body(op);
        // SAFETY: made above; a call that has been made keeps what it needs.
        let code = unsafe { destroy(op, self.comm) };
        result.and(self.check("ncclRedOpDestroy", code))
    }
}
