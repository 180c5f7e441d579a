//! Contexts: which devices have one, and which one is current on a thread.
//!
//! Contexts never go away again, so whatever asks where they appear runs in a process of its own.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Access, Driver, EventFlags, FftKind, KernelArguments, StreamFlags, StreamRef};

use crate::libraries::fft::packed;
use crate::support::child::{self, Role};
use crate::support::host::Pageable;
use crate::support::stage::{Outcome, Stage, threads};
use crate::support::subject::PROBE;

crate::support::runner::tests![
    queries_make_no_context,
    contexts_appear_only_on_the_device_in_use,
    calls_without_a_device_make_no_context,
    binding_makes_and_selects_a_context,
    binding_concerns_one_thread,
    every_call_leaves_the_current_context_alone,
    the_context_of_a_thread_and_its_device_are_reported,
];

pub(crate) const ROLES: &[Role] = &[
    Role { name: "context-queries", run: only_ask },
    Role { name: "context-on-one-device", run: use_one_device },
    Role { name: "context-no-device-named", run: name_no_device },
    Role { name: "context-binding", run: bind_for_the_first_time },
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;

fn active(stage: &Stage<'_>) -> Result<Vec<bool>> {
    stage.devices().into_iter().map(|device| stage.driver.context_is_active(device)).collect()
}

fn queries_make_no_context(stage: &Stage<'_>) -> Outcome {
    child::run(stage, "context-queries")
}

fn only_ask(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        stage.driver.device_properties(device)?;
        for peer in stage.devices() {
            stage.driver.can_access_peer(device, peer)?;
        }
        let _ = stage.driver.device_processes(device); // The library it needs may be missing.
        stage.driver.device_synchronize(device)?;
        assert!(!stage.driver.context_is_active(device)?);
    }
    assert!(active(stage)?.iter().all(|active| !active));
    assert!(matches!(stage.subject.current_context(), None | Some(0)));
    Ok(())
}

fn contexts_appear_only_on_the_device_in_use(stage: &Stage<'_>) -> Outcome {
    stage.two_devices()?;
    child::run(stage, "context-on-one-device")
}

fn use_one_device(stage: &Stage<'_>) -> Outcome {
    let (other, used) = stage.two_devices()?;
    let stream = stage.stream(used)?;
    assert!(stage.driver.context_is_active(used)?);
    assert!(matches!(stage.subject.current_context(), None | Some(0)), "nothing was bound");
    // A battery of calls that name the second device, and wait for it.
    for call in battery(stage, used)? {
        (call.run)(stage.driver)?;
        assert!(!stage.driver.context_is_active(other)?, "{} made one", call.name);
    }
    let event = stage.event(used)?;
    stream.record(&event)?;
    stage.probe(used)?;
    assert!(!stage.driver.context_is_active(other)?);
    Ok(())
}

fn calls_without_a_device_make_no_context(stage: &Stage<'_>) -> Outcome {
    child::run(stage, "context-no-device-named")
}

fn name_no_device(stage: &Stage<'_>) -> Outcome {
    stage.driver.pointer_info(0)?;
    stage.driver.pointer_info(usize::MAX)?;
    stage.driver.pointer_info(Pageable::new(64, 0).address())?;
    stage.driver.unbind_device()?;
    assert!(active(stage)?.iter().all(|active| !active));
    Ok(())
}

fn binding_makes_and_selects_a_context(stage: &Stage<'_>) -> Outcome {
    child::run(stage, "context-binding")
}

fn bind_for_the_first_time(stage: &Stage<'_>) -> Outcome {
    let current = || stage.subject.current_context();
    assert!(!stage.driver.context_is_active(ZERO)?);
    stage.driver.bind_device(ZERO)?;
    assert!(stage.driver.context_is_active(ZERO)?);
    let bound = current();
    assert_ne!(bound, Some(0));
    for device in stage.devices().into_iter().skip(1) {
        assert!(!stage.driver.context_is_active(device)?, "device {device} was not named");
    }
    stage.driver.bind_device(ZERO)?;
    assert_eq!(current(), bound, "binding again changes nothing");
    stage.driver.unbind_device()?;
    assert!(matches!(current(), None | Some(0)));
    assert!(stage.driver.context_is_active(ZERO)?, "the context stays");
    stage.driver.unbind_device()?;
    Ok(())
}

fn binding_concerns_one_thread(stage: &Stage<'_>) -> Outcome {
    let current = || stage.subject.current_context();
    stage.driver.bind_device(ZERO)?;
    let here = current();
    let last = *stage.devices().last().unwrap();
    let there = std::thread::scope(|scope| {
        let thread = scope.spawn(|| -> Result<_> {
            let fresh = current();
            stage.driver.bind_device(last)?;
            Ok((fresh, current()))
        });
        thread.join().unwrap()
    })?;
    assert_eq!(there.0, Some(0), "a fresh thread has no current context");
    assert_eq!(there.1 == here, last == ZERO);
    assert_eq!(current(), here, "another thread's binding came through");
    stage.driver.unbind_device()?;
    Ok(())
}

fn the_context_of_a_thread_and_its_device_are_reported(stage: &Stage<'_>) -> Outcome {
    let reported =
        || Ok::<_, Error>((stage.driver.current_context()?, stage.driver.current_device()?));
    let mut contexts = Vec::new();
    for device in stage.devices() {
        stage.driver.bind_device(device)?;
        let (context, of) = reported()?;
        assert_eq!((Some(context), of), (stage.subject.current_context(), Some(device)));
        let elsewhere = std::thread::scope(|scope| scope.spawn(reported).join().unwrap())?;
        assert_eq!(elsewhere, (0, None), "a fresh thread has none");
        contexts.push(context);
    }
    assert!(!contexts.contains(&0));
    contexts.sort_unstable();
    contexts.dedup();
    assert_eq!(contexts.len(), stage.devices().len(), "one number for each context");
    stage.driver.unbind_device()?;
    assert_eq!(reported()?, (0, None));
    Ok(())
}

fn every_call_leaves_the_current_context_alone(stage: &Stage<'_>) -> Outcome {
    let current = || stage.subject.current_context();
    stage.driver.bind_device(ZERO)?;
    let of_device_0 = current();
    let mut bindings = vec![None];
    bindings.extend(stage.devices().into_iter().map(Some));
    for binding in bindings {
        for device in stage.devices() {
            match binding {
                Some(bound) => stage.driver.bind_device(bound)?,
                None => stage.driver.unbind_device()?,
            }
            let before = current();
            // Device 0's context may stay on a thread that had none; some calls wait for all devices.
            let is_alone = |now| now == before || binding.is_none() && now == of_device_0;
            let calls = battery(stage, device)?;
            assert!(is_alone(current()), "making objects changed it");
            for call in calls {
                (call.run)(stage.driver)?;
                assert!(is_alone(current()), "{} on device {device} changed it", call.name);
            }
        }
    }
    stage.driver.unbind_device()?;
    Ok(())
}

type Action<'a> = Box<dyn Fn(&dyn Driver) -> Result<()> + 'a>;

struct Call<'a> {
    name: &'static str,
    run: Action<'a>,
}

/// A library that is not installed cannot be called.
fn unless_missing(result: Result<()>) -> Result<()> {
    match result {
        Err(error) if error.status() == Status::LibraryNotFound => Ok(()),
        result => result,
    }
}

/// Calls that concern one device, good ones and bad ones; `Ok` either way unless a good one fails.
fn battery<'a>(stage: &Stage<'a>, device: DeviceIndex) -> Result<Vec<Call<'a>>> {
    let default = StreamRef::default_of(device);
    let stream = stage.stream(device)?;
    let (event, end) = (stage.timed_event(device)?, stage.timed_event(device)?);
    let memory = stage.memory(device, 8192)?;
    let pageable = Pageable::new(4096, 9);
    let beyond = DeviceIndex::new(stage.driver.device_count());
    let mut calls: Vec<Call<'a>> = Vec::new();
    let mut call = |name, run: Action<'a>| {
        calls.push(Call { name, run });
    };
    call("device_properties", Box::new(move |d| d.device_properties(device).map(drop)));
    call("memory_info", Box::new(move |d| d.memory_info(device).map(drop)));
    call("context_is_active", Box::new(move |d| d.context_is_active(device).map(drop)));
    call("can_access_peer", Box::new(move |d| d.can_access_peer(device, device).map(drop)));
    call("blas_create", Box::new(move |d| unless_missing(d.blas_create(device).map(drop))));
    call("dnn_create", Box::new(move |d| unless_missing(d.dnn_create(device).map(drop))));
    call(
        "fft_plan and its drop",
        Box::new(move |d| {
            let shape = packed(FftKind::C2C, Dtype::F32, &[16], 1);
            unless_missing(d.fft_plan(device, &shape).map(drop))
        }),
    );
    call("device_synchronize", Box::new(move |d| d.device_synchronize(device)));
    call("virtual_granularity", Box::new(move |d| d.virtual_granularity(device).map(drop)));
    call("stream_priority_range", Box::new(move |d| d.stream_priority_range(device).map(drop)));
    call(
        "stream_create and stream_destroy",
        Box::new(move |d| {
            let handle = d.stream_create(device, StreamFlags::default(), 0)?;
            d.stream_destroy(StreamRef { device, handle })
        }),
    );
    call(
        "event_create and event_destroy",
        Box::new(move |d| d.event_destroy(d.event_create(device, EventFlags::default())?)),
    );
    call(
        "memory_alloc and memory_free",
        Box::new(move |d| d.memory_free(device, d.memory_alloc(device, 4096)?)),
    );
    call("host_alloc and host_free", Box::new(move |d| d.host_free(d.host_alloc(device, 4096)?)));
    let objects = (stream, event, end, memory, pageable);
    call(
        "work on a stream",
        Box::new(move |d| {
            let (stream, event, end, memory, pageable) = &objects; // Takes them along.
            let at = stream.at;
            d.event_record(event.handle, at)?;
            d.fill_async(memory.ptr, 1, 4096, at)?;
            d.copy_async(memory.ptr.into(), pageable.raw(), 4096, at)?;
            let half = memory.ptr.offset(4096);
            d.copy_peer_async((device, half), (device, memory.ptr), 4096, at)?;
            d.fill_2d_async((memory.ptr, 64), 1, 32, 64, at)?;
            d.copy_2d_async((memory.ptr.into(), 64), (pageable.raw(), 64), 32, 64, at)?;
            d.event_record(end.handle, at)?;
            d.stream_wait_event(default, end.handle)?;
            d.launch_host_function(at, crate::support::host::closure(|| ()))?;
            d.stream_query(at)?;
            d.event_query(end.handle)?;
            d.event_synchronize(end.handle)?;
            d.event_elapsed_ms(event.handle, end.handle)?;
            d.stream_check(at)?;
            d.stream_id(at)?;
            d.stream_priority(at)?;
            d.stream_is_capturing(at)?;
            d.pointer_info(memory.ptr.0 as usize)?;
            d.stream_synchronize(default)?;
            d.stream_synchronize(at)
        }),
    );
    call(
        "virtual memory",
        Box::new(move |d| {
            let bytes = d.virtual_granularity(device)?;
            let ptr = d.virtual_reserve(bytes)?;
            let physical = d.physical_create(device, bytes, true)?;
            d.virtual_map(ptr, bytes, physical, 0)?;
            d.virtual_set_access(ptr, bytes, device, Access::ReadWrite)?;
            let imported = d.physical_import(device, d.physical_export(physical)?)?;
            d.physical_release(imported)?;
            d.virtual_unmap(ptr, bytes)?;
            d.physical_release(physical)?;
            d.virtual_release(ptr, bytes)
        }),
    );
    call(
        "kernels",
        Box::new(move |d| {
            let module = d.module_load(device, &PROBE)?;
            let kernel = d.kernel_find(device, module, "sconce_sleep_ns")?;
            let arguments = KernelArguments::new().u64(1000);
            d.kernel_launch(kernel, threads(1), &arguments, default)?;
            d.stream_synchronize(default)?;
            d.module_unload(device, module)
        }),
    );
    call(
        "host_register and host_unregister",
        Box::new(move |d| {
            let host = Pageable::new(4096, 0);
            d.host_register(device, host.raw(), 4096)?;
            d.host_unregister(host.address())
        }),
    );
    call(
        "calls that fail",
        Box::new(move |d| {
            if let Some(beyond) = beyond {
                let _ = d.memory_alloc(beyond, 4096);
                let _ = d.stream_create(beyond, StreamFlags::default(), 0);
            }
            let _ = d.memory_alloc(device, usize::MAX / 2);
            let _ = d.memory_free(device, sconce_base::types::DevicePtr(64));
            let _ = d.host_free(64);
            Ok(())
        }),
    );
    Ok(calls)
}
