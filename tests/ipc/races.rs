//! Frees, openings, closings, exports and deaths at the same time.

use crate::remote::Remote;
use crate::{alone, device, soon, waiting_bytes};
use sconce_runtime::{ipc, memory};
use std::sync::atomic::{AtomicBool, Ordering};

const KIB: usize = 1 << 10;

/// One process opens and closes a place as fast as it can, while here blocks come to be at the place,
/// are exported, written and freed. What it writes back is what it read: so no byte may ever change
/// but by this process.
#[test]
fn frees_meet_openings_and_closings() {
    let _alone = alone();
    let block = memory::alloc(64 * KIB).unwrap();
    device::fill(block, 0, 64 * KIB);
    let export = ipc::export(block).unwrap();
    let mut others = [Remote::start(), Remote::start()];
    for other in &mut others {
        let handle = crate::remote::to_hex(&export.0.0);
        other.tell(&format!("storm {handle} {} 300", export.1));
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                ipc::collect().unwrap();
                std::thread::yield_now();
            }
        });
        let mut blocks = vec![block];
        for round in 0..600_usize {
            let value = (round % 251) as u8;
            let fresh = memory::alloc(64 * KIB).unwrap();
            assert!(!blocks.contains(&fresh));
            // Not exported yet, and if it was another's before, nobody has it open any more.
            device::fill(fresh, value, 64 * KIB);
            std::thread::yield_now();
            assert!(device::read(fresh, 64).iter().all(|byte| *byte == value), "{round}");
            ipc::export(fresh).unwrap();
            blocks.push(fresh);
            if blocks.len() > 3 {
                memory::free(blocks.remove(round % 3)).unwrap();
            }
        }
        for block in blocks {
            memory::free(block).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    for other in &mut others {
        let opened: usize = other.hear().unwrap().parse().unwrap();
        assert!(opened > 0);
        assert_eq!(other.number("sharing"), 0);
    }
    ipc::collect().unwrap();
    assert_eq!(waiting_bytes(), 0);
    memory::check::walk().unwrap();
    memory::empty_cache().unwrap();
}

#[test]
fn threads_open_and_close_the_same_memory() {
    let _alone = alone();
    let mut other = Remote::start();
    let before = device::shared_descriptors();
    let (plain, mapped) = (other.number("alloc 4096"), other.number("virtual 1"));
    other.fill(plain, 7, 4096);
    other.fill(mapped, 7, 4096);
    for export in [other.export(plain), other.export(mapped)] {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let export = &export;
                scope.spawn(move || {
                    for _ in 0..100 {
                        let offset = export.1 + thread % 2 * 512;
                        let here = ipc::open(0, &export.0, offset).unwrap();
                        assert_eq!(device::read(here, 1), [7]);
                        ipc::close(here).unwrap();
                    }
                });
            }
        });
    }
    assert_eq!(device::shared_descriptors(), before, "no connection is left");
    other.ask(&format!("free {plain}")).unwrap();
    other.ask("collect").unwrap();
    assert_eq!(other.number("alloc 4096"), plain);
}

#[test]
fn threads_export_at_the_same_time() {
    let _alone = alone();
    let mapped = device::map_virtual(true);
    let block = memory::alloc(KIB).unwrap();
    for address in [block, mapped.ptr.0 as usize] {
        let handles: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| ipc::export(address).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(handles.iter().all(|handle| *handle == handles[0]));
    }
    mapped.release();
    memory::free(block).unwrap();
}

#[test]
fn processes_die_amid_it() {
    let _alone = alone();
    let block = memory::alloc(64 * KIB).unwrap();
    let export = ipc::export(block).unwrap();
    for _ in 0..4 {
        let mut other = Remote::start();
        let handle = crate::remote::to_hex(&export.0.0);
        other.tell(&format!("storm {handle} {} 1000000", export.1));
        std::thread::sleep(std::time::Duration::from_millis(60));
        other.kill();
    }
    memory::free(block).unwrap();
    soon("nobody holds it", || waiting_bytes() == 0);
}
