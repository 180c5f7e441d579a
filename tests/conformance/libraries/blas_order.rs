//! Products of matrices: streams, workspaces, what a handle is set to, refusals.

use sconce_base::element::Dtype;
use sconce_base::error::Status;
use sconce_base::types::DevicePtr;
use sconce_driver::{MathMode, StreamRef};

use super::blas::{Case, Placed, handle};
use super::{ELEMENTS, GuardedWorkspace, ZERO, decode, drawn, encode, installed};
use crate::support::stage::{Outcome, Stage, carries_number, fails_with};

crate::support::runner::tests![
    a_product_runs_between_what_was_queued_before_and_after,
    a_new_handle_is_on_the_default_stream_and_exact,
    later_products_follow_the_stream,
    a_handle_knows_what_it_is_set_to,
    a_workspace_is_used_alone,
    another_stream_ends_the_use_of_a_workspace,
    a_handle_works_without_a_workspace,
    a_workspace_must_be_aligned,
    refused_products_leave_no_trace,
    handles_are_apart_and_may_go_at_any_time,
    threads_have_handles_of_their_own,
];

fn a_product_runs_between_what_was_queued_before_and_after(stage: &Stage<'_>) -> Outcome {
    let (mut blas, stream) = handle(stage, ZERO)?;
    for element in ELEMENTS {
        let mut placed = Placed::new(stage, ZERO, Case::new(element, [24, 16, 32]), 1)?;
        blas.gemm(&placed.gemm)?;
        stream.synchronize()?;
        // What the product must read comes on the stream just before it.
        placed.held[0] = drawn(element, placed.held[0].len(), 100);
        let [factor, result] = [0, 2].map(|index| encode(element, &placed.held[index]));
        let before = stage.pinned(ZERO, factor.len(), 0)?;
        let after = stage.pinned(ZERO, result.len(), 0)?;
        before.write(&factor);
        let gate = stream.gate()?;
        let (driver, [a, _, c]) = (stage.driver, placed.arrays.each_ref().map(|array| array.at()));
        driver.copy_async(a.into(), before.raw(), before.bytes(), stream.at)?;
        blas.gemm(&placed.gemm)?;
        driver.copy_async(after.raw(), c.into(), after.bytes(), stream.at)?;
        assert!(!stream.query()?, "the stream stands still");
        gate.open();
        stream.synchronize()?;
        super::assert_close(&decode(element, &after.read()), &placed.expected(), &element);
        placed.assert_done()?;
    }
    Ok(())
}

fn a_new_handle_is_on_the_default_stream_and_exact(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let mut blas = installed(stage.driver.blas_create(device))?;
        assert_ne!(blas.native(), 0);
        assert!(blas.is_set_to(StreamRef::default_of(device), MathMode::Ieee));
        let placed = Placed::new(stage, device, Case::new(Dtype::F32, [40, 40, 40]), 2)?;
        blas.gemm(&placed.gemm)?;
        placed.assert_done()?;
        // Work on the default stream waits for blocking streams.
        let blocking = stage.blocking_stream(device)?;
        let event = stage.event(device)?;
        let gate = blocking.gate()?;
        blas.gemm(&placed.gemm)?;
        stage.default_stream(device).record(&event)?;
        event.assert_stays_pending("the product is on the default stream")?;
        gate.open();
        event.synchronize()?;
    }
    Ok(())
}

fn later_products_follow_the_stream(stage: &Stage<'_>) -> Outcome {
    let (mut blas, first) = handle(stage, ZERO)?;
    let second = stage.stream(ZERO)?;
    let case = Case::new(Dtype::F32, [24, 16, 32]);
    let [on_first, on_second] =
        [Placed::new(stage, ZERO, case, 1)?, Placed::new(stage, ZERO, case, 7)?];
    let [first_done, second_done] = [stage.event(ZERO)?, stage.event(ZERO)?];
    for stream in [&second, &first] {
        blas.set_stream(stream.at)?;
        blas.gemm(&on_first.gemm)?;
        stream.synchronize()?;
    }
    let (result, held) = (&on_first.arrays[2], &on_first.held[2]);
    result.write(held)?;
    let host = stage.pinned(ZERO, held.len() * case.element.bytes(), 0)?;
    let gate = first.gate()?;
    blas.gemm(&on_first.gemm)?;
    first.record(&first_done)?;
    blas.set_stream(second.at)?;
    blas.gemm(&on_second.gemm)?;
    second.record(&second_done)?;
    second_done.assert_completes("the other stream stands still")?;
    result.assert_stays(held, &host, &second)?;
    assert!(!first_done.query()?, "the first stream did not stand still");
    gate.open();
    on_first.assert_done()?;
    on_second.assert_done()
}

fn a_handle_knows_what_it_is_set_to(stage: &Stage<'_>) -> Outcome {
    let (mut blas, stream) = handle(stage, ZERO)?;
    let other = stage.stream(ZERO)?;
    let native = blas.native();
    for mode in [MathMode::Tf32, MathMode::Ieee, MathMode::Tf32] {
        blas.set_math_mode(mode)?;
        for own in [&stream, &other] {
            blas.set_stream(own.at)?;
            for (at, asked) in [stream.at, other.at, StreamRef::default_of(ZERO)]
                .into_iter()
                .flat_map(|at| [(at, MathMode::Ieee), (at, MathMode::Tf32)])
            {
                let is = at == own.at && asked == mode;
                assert_eq!(blas.is_set_to(at, asked), is, "{at:?} {asked:?}");
            }
            for element in ELEMENTS {
                let placed = Placed::new(stage, ZERO, Case::new(element, [8, 8, 8]), 3)?;
                blas.gemm(&placed.gemm)?;
                own.synchronize()?;
                assert!(blas.is_set_to(own.at, mode), "a product of {element:?} changed that");
            }
        }
    }
    assert_eq!(blas.native(), native);
    Ok(())
}

/// A product with so long a sum that a library may divide it.
fn long_sum(element: Dtype) -> Case {
    Case { transpose: [true, false], ..Case::new(element, [16, 16, 4096]) }
}

fn a_workspace_is_used_alone(stage: &Stage<'_>) -> Outcome {
    let (mut blas, stream) = handle(stage, ZERO)?;
    for bytes in [1 << 20, 8 << 20] {
        let workspace = GuardedWorkspace::new(stage, ZERO, bytes)?;
        blas.set_workspace(workspace.at(), bytes)?;
        for element in ELEMENTS {
            let placed = Placed::new(stage, ZERO, long_sum(element), 4)?;
            blas.gemm(&placed.gemm)?;
            placed.assert_done()?;
        }
        blas.set_stream(stream.at)?;
        workspace.assert_neighbours_untouched()?;
    }
    Ok(())
}

fn another_stream_ends_the_use_of_a_workspace(stage: &Stage<'_>) -> Outcome {
    let (mut blas, stream) = handle(stage, ZERO)?;
    let memory = stage.memory(ZERO, 4 << 20)?;
    let other = stage.stream(ZERO)?;
    for own in [&other, &stream] {
        blas.set_workspace(memory.ptr, memory.bytes)?;
        blas.set_stream(own.at)?;
        stage.driver.fill_async(memory.ptr, 0x3C, memory.bytes, own.at)?;
        own.synchronize()?;
        for element in [Dtype::F16, Dtype::F32] {
            let placed = Placed::new(stage, ZERO, long_sum(element), 4)?;
            blas.gemm(&placed.gemm)?;
            placed.assert_done()?;
        }
        let content = stage.read(ZERO, memory.ptr, memory.bytes)?;
        assert!(content.iter().all(|byte| *byte == 0x3C), "it was used all the same");
    }
    // Nothing refers to it any more.
    memory.free()?;
    let placed = Placed::new(stage, ZERO, long_sum(Dtype::F32), 4)?;
    blas.gemm(&placed.gemm)?;
    placed.assert_done()
}

fn a_handle_works_without_a_workspace(stage: &Stage<'_>) -> Outcome {
    let (mut blas, _stream) = handle(stage, ZERO)?;
    blas.set_workspace(DevicePtr(0), 0)?;
    let placed = Placed::new(stage, ZERO, Case::new(Dtype::F32, [32, 32, 32]), 4)?;
    blas.gemm(&placed.gemm)?;
    placed.assert_done()
}

fn a_workspace_must_be_aligned(stage: &Stage<'_>) -> Outcome {
    let (mut blas, _stream) = handle(stage, ZERO)?;
    let memory = stage.memory(ZERO, 2 << 20)?;
    for offset in [1, 16, 128] {
        let refused = blas.set_workspace(memory.ptr.offset(offset), 1 << 20);
        carries_number(&fails_with(refused, Status::InvalidArgument));
    }
    blas.set_workspace(memory.ptr.offset(256), 1 << 20)?;
    let placed = Placed::new(stage, ZERO, long_sum(Dtype::F32), 4)?;
    blas.gemm(&placed.gemm)?;
    placed.assert_done()
}

fn refused_products_leave_no_trace(stage: &Stage<'_>) -> Outcome {
    let (mut blas, _stream) = handle(stage, ZERO)?;
    for batch in [1, 2] {
        let case = Case { batch, ..Case::new(Dtype::F32, [6, 4, 5]) };
        let placed = Placed::new(stage, ZERO, case, 6)?;
        let good = placed.gemm;
        let mut bad = [good; 6];
        bad[0].m = -1;
        bad[1].k = -1;
        bad[2].a.column = 5;
        (bad[3].transpose[0], bad[3].a.column) = (true, 4);
        bad[4].b.column = 4;
        bad[5].c.column = 5;
        for bad in bad {
            carries_number(&fails_with(blas.gemm(&bad), Status::InvalidArgument));
        }
        let mut unknown = good;
        unknown.element = Dtype::I32;
        fails_with(blas.gemm(&unknown), Status::NotSupported);
        assert_eq!(placed.arrays[2].read()?, placed.held[2], "a refused product wrote");
        blas.gemm(&good)?;
        placed.assert_done()?;
    }
    Ok(())
}

fn handles_are_apart_and_may_go_at_any_time(stage: &Stage<'_>) -> Outcome {
    let (mut blas, stream) = handle(stage, ZERO)?;
    let placed = Placed::new(stage, ZERO, Case::new(Dtype::F32, [40, 30, 20]), 8)?;
    blas.gemm(&placed.gemm)?;
    stream.synchronize()?;
    placed.arrays[2].write(&placed.held[2])?;
    let (mut other, other_stream) = handle(stage, ZERO)?;
    assert_ne!(blas.native(), other.native());
    other.set_math_mode(MathMode::Tf32)?;
    assert!(blas.is_set_to(stream.at, MathMode::Ieee));
    assert!(other.is_set_to(other_stream.at, MathMode::Tf32));
    // Dropped with work queued, which still runs.
    let gate = stream.gate()?;
    blas.gemm(&placed.gemm)?;
    drop(blas);
    gate.open();
    placed.assert_done()?;
    other.gemm(&placed.gemm)?;
    Ok(other_stream.synchronize()?)
}

fn threads_have_handles_of_their_own(stage: &Stage<'_>) -> Outcome {
    let work = |seed: u64| -> Outcome {
        let (mut blas, _stream) = handle(stage, ZERO)?;
        for (element, round) in ELEMENTS.into_iter().zip(0..) {
            let case = Case::new(element, [24, 10 + seed as i64, 18]);
            let placed = Placed::new(stage, ZERO, case, 10 * seed + round)?;
            blas.gemm(&placed.gemm)?;
            placed.assert_done()?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || work(seed))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })
}
