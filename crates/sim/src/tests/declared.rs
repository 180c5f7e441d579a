//! Declarations without a simulator against what a listener receives.

use sconce_base::element::Dtype;
use sconce_base::types::DevicePtr;
use sconce_driver::prelude::*;
use sconce_driver::{
    CommCall, CommEndpoint, CommMember, CommOp, CommOptions, CommParts,
    ConvolutionOperation::{Data, Filter, Forward},
    EngineChoice, FftCall, FftDirection, FftKind, FftLayout, FftShape, Gemm, KernelArguments,
    Matrix, StreamRef,
};

use super::listener::Recorder;
use super::problems::{Layout, Shape, handle, problem};
use super::support::*;
use crate::declared::*;
use crate::{Accesses, Intent, MemoryAccess, Simulator};

/// Addresses that are never accessed: in manual mode the work only waits.
fn at(offset: u64) -> DevicePtr {
    DevicePtr(0x10_0000 + offset)
}

/// A declaration that has not become empty.
fn known(accesses: Vec<MemoryAccess>) -> Accesses {
    assert!(!accesses.is_empty());
    Accesses::Known(accesses)
}

#[test]
fn rows_are_declared_as_copies_and_fills_declare_them() {
    let sim = manual(1);
    let (stream, recorder) = (stream(&sim), Recorder::on(&sim));
    let memory = sim.memory_alloc(D0, 1 << 16).unwrap();
    let (dst, src) = (memory, memory.offset(1 << 15));
    sim.copy_2d_async((dst.into(), 512), (src.into(), 128), 100, 7, stream).unwrap();
    let sides =
        [of_rows(Intent::Write, dst.0, 512, 100, 7), of_rows(Intent::Read, src.0, 128, 100, 7)];
    assert_eq!(recorder.accesses(), known(sides.to_vec()));
    sim.fill_async(dst, 1, 300, stream).unwrap();
    assert_eq!(recorder.accesses(), known(vec![of_rows(Intent::Write, dst.0, 300, 300, 1)]));
}

#[test]
fn a_kernel_declares_what_its_launch_declares() {
    let sim = manual(1);
    let (stream, recorder) = (stream(&sim), Recorder::on(&sim));
    let arguments = KernelArguments::new().u64(at(0).0).u64(10).u32(1);
    sim.kernel_launch(kernel(&sim, D0, "sconce_add_u32"), ONE, &arguments, stream).unwrap();
    let declared = of_kernel("sconce_add_u32", arguments.slots());
    assert_eq!(recorder.accesses(), known(declared.unwrap()));
    assert_eq!(of_kernel("sconce_add_u32", &arguments.slots()[1..]), None);
    assert_eq!(of_kernel("add_u32", arguments.slots()), None);
    // A kernel that uses no memory is one of the library, too.
    assert_eq!(of_kernel("sconce_sleep_ns", &[5]), Some(Vec::new()));
}

#[test]
fn a_product_declares_what_its_call_declares() {
    let sim = manual(1);
    let recorder = Recorder::on(&sim);
    let workspace = sim.memory_alloc(D0, 1 << 12).unwrap();
    let matrix = |offset, column, batch| Matrix { address: at(offset), column, batch };
    let gemm = Gemm {
        element: Dtype::C64,
        transpose: [true, false],
        m: 4,
        n: 3,
        k: 2,
        batch: 5,
        alpha: 1.0,
        beta: 0.5,
        a: matrix(0, 3, 100),
        b: matrix(0x1_0000, 2, 0),
        c: matrix(0x2_0000, 8, 64),
    };
    let mut blas = sim.blas_create(D0).unwrap();
    blas.gemm(&gemm).unwrap();
    assert_eq!(recorder.accesses(), known(of_gemm(&gemm, None)));
    assert_eq!(of_gemm(&gemm, None), of_gemm(&gemm, Some((workspace, 0))));
    blas.set_workspace(workspace, 1 << 12).unwrap();
    blas.gemm(&gemm).unwrap();
    assert_eq!(recorder.accesses(), known(of_gemm(&gemm, Some((workspace, 1 << 12)))));
    let refused = Gemm { m: 0, ..gemm };
    assert!(blas.gemm(&refused).is_err());
    assert_eq!(of_gemm(&refused, None), []);
}

#[test]
fn a_convolution_declares_what_its_execution_declares() {
    let sim = manual(1);
    let (stream, recorder) = (stream(&sim), Recorder::on(&sim));
    let shape = Shape {
        images: 2,
        groups: 2,
        channels: 3,
        features: 4,
        spatial: 2,
        input: [9, 8, 1],
        filter: [3, 2, 1],
        stride: [2, 1, 1],
        padding: [1, 0, 0],
        dilation: [1; 3],
    };
    let layouts = [Layout::Spread(2), Layout::Packed, Layout::ChannelsLast];
    let choice = EngineChoice { allow_tf32: false, deterministic: false };
    for operation in [Forward, Data, Filter] {
        let problem = problem(operation, Dtype::F16, &shape, layouts);
        let mut dnn = handle(&sim, stream);
        let mut engines = dnn.engines(&problem, choice).unwrap();
        // With a workspace and without.
        let needed = [0, 1].map(|index| {
            let mut plan = engines.plan(index).unwrap();
            let (bytes, workspace) = (plan.workspace_bytes(), at(0x4_0000));
            let addresses @ [input, filter, output] = [at(0), at(0x1_0000), at(0x2_0000)];
            plan.execute(input, filter, output, workspace).unwrap();
            let declared = of_convolution(&problem, addresses, workspace, bytes);
            assert_eq!(recorder.accesses(), known(declared));
            bytes > 0
        });
        assert_eq!(needed, [true, false]);
    }
}

#[test]
fn a_transform_declares_what_its_execution_declares() {
    let sim = manual(1);
    let (stream, recorder) = (stream(&sim), Recorder::on(&sim));
    let layout = |embed, stride, distance| FftLayout { embed, stride, distance };
    let (gaps, packed) = (layout([64, 70, 1], 2, 10_000), layout([64, 128, 1], 1, 8192));
    let of = |kind, sizes: [i64; 3], input, output| {
        let (element, rank, batch) = (Dtype::F32, 2, 3);
        FftShape { kind, element, rank, sizes, batch, input, output }
    };
    let mut needed = Vec::new();
    for (shape, direction) in [
        (of(FftKind::C2C, [64, 128, 1], packed, packed), FftDirection::Inverse),
        (of(FftKind::R2C, [8, 16, 1], packed, gaps), FftDirection::Forward),
        // The input is overwritten.
        (of(FftKind::C2R, [64, 128, 1], gaps, packed), FftDirection::Inverse),
    ] {
        let mut plan = sim.fft_plan(D0, &shape).unwrap();
        let (workspace, input, output) = (at(0x40_0000), at(0), at(0x20_0000));
        let call = FftCall { stream, workspace, input, output, direction };
        plan.execute(&call).unwrap();
        let bytes = plan.workspace_bytes();
        assert_eq!(recorder.accesses(), known(of_transform(&shape, &call, bytes)));
        needed.push(bytes > 0);
    }
    assert_eq!(needed, [true, false, true]);
}

const RANKS: usize = 3;

/// A communicator of `RANKS` devices: of each rank its end and a stream.
fn communicator(sim: &Simulator) -> Vec<(Box<dyn CommEndpoint>, StreamRef)> {
    let devices = (0..RANKS).map(|rank| device(rank as i32));
    let members: Vec<_> =
        devices.enumerate().map(|(rank, device)| CommMember { rank, device }).collect();
    let (id, options) = (sim.comm_unique_id().unwrap(), CommOptions::default());
    let ends = sim.comm_create(&id, RANKS, &members, &options).unwrap();
    let mut ranks: Vec<_> = ends
        .into_iter()
        .zip(&members)
        .map(|(end, member)| (end, stream_on(sim, member.device, true)))
        .collect();
    eventually("the ranks join", || ranks.iter_mut().all(|(end, _)| end.poll().unwrap()));
    ranks
}

#[test]
fn a_collective_call_declares_what_each_rank_declares() {
    let sim = manual(RANKS as i32);
    let mut ranks = communicator(&sim);
    let recorder = Recorder::on(&sim);
    let (send, recv, count, dtype, op) = (at(0), at(0x1000), 10, Dtype::I64, CommOp::Sum);
    let parts = |base, step: usize| CommParts {
        base,
        parts: (0..RANKS).map(|rank| (rank * step, 1 + rank)).collect(),
    };
    let calls = [
        CommCall::AllReduce { send, recv, count, dtype, op },
        CommCall::Reduce { send, recv, count, dtype, op, root: 1 },
        CommCall::Broadcast { send, recv, count, dtype, root: 1 },
        CommCall::AllGather { send, recv, count, dtype },
        CommCall::ReduceScatter { send, recv, count, dtype, op },
        CommCall::AllToAll { send: parts(send, 5), recv: parts(recv, 7), dtype },
        CommCall::Gather { send, recv, count, dtype, root: 2 },
        CommCall::Scatter { send, recv, count, dtype, root: 2 },
        CommCall::Send { send, count, dtype, peer: 0 },
        CommCall::Recv { recv, count, dtype, peer: 0 },
    ];
    for call in &calls {
        let mut bytes = 0;
        for (rank, (end, stream)) in ranks.iter_mut().enumerate() {
            end.queue(call, *stream).unwrap();
            let declared = of_collective(call, rank, RANKS);
            bytes += declared.iter().map(MemoryAccess::run_bytes).sum::<u64>();
            assert_eq!(recorder.accesses(), Accesses::Known(declared), "{call:?} {rank}");
        }
        assert!(bytes > 0, "{call:?}");
    }
}
