//! What libraries keep because a captured node has its address (workspaces, plans), and every way by which a graph ends: a
//! table of both. What was kept stays as long as a graph may run it, or a queued launch does, and goes back then.
//!
//! The devices give freed addresses to the next request, and whoever gets memory writes to it at once.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ends;
mod things;

use sconce::*;
use testkit::fork::forked_result;
use testkit::libraries::fft;

use self::ends::End;
use self::things::{Figures, Scene, Thing};
use crate::support::*;

/// One cell of the table, in a process of its own. Says what is wrong.
fn cell(thing: Thing, end: End) -> Result<(), String> {
    forked_result(|| {
        testkit::simulated::runtime();
        ok(sconce_sim_set_address_reuse(true.into()));
        let mut scene = Scene::new(thing);
        let before = Figures::now();
        end.run(&mut scene)?;
        ok(sconce_device_synchronize(0));
        scene.drop_caches();
        let after = Figures::now();
        if after != before {
            return Err(format!("{before:?} before, {after:?} afterwards"));
        }
        sconce_runtime::memory::check::walk()
    })
}

#[test]
fn what_libraries_keep_for_graphs_goes_with_the_last_graph() {
    let (mut cells, mut wrong) = (0, Vec::new());
    for thing in Thing::ALL {
        for end in End::ALL {
            cells += 1;
            if let Err(why) = cell(thing, end) {
                wrong.push(format!("{thing:?}, {end:?}: {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {cells}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn plans_of_graphs_count_with_the_cache_until_the_graphs_are_gone() {
    let outcome = forked_result(|| {
        let mut scene = Scene::new(Thing::Transform);
        let graph = scene.captured(std::ptr::null_mut());
        let cached = fft::stats(0);
        assert!(cached.size == 1 && cached.bytes > 0);
        ok(sconce_fft_cache_clear(0));
        let kept = fft::stats(0);
        assert_eq!((kept.size, kept.bytes), (0, cached.bytes));
        assert_eq!(kept.plan_bytes + kept.workspace_bytes, kept.bytes);
        // They count for the limit, too: there is room for one more plan, or for none.
        for (limit, size) in [(2 * cached.bytes, 1), (2 * cached.bytes - 1, 0)] {
            ok(sconce_fft_cache_set_max_bytes(0, limit as i64));
            scene.queue(scene.stream);
            ok(sconce_device_synchronize(0));
            assert_eq!(fft::stats(0).size, size, "{limit}");
        }
        assert_eq!(fft::stats(0).max_bytes, 2 * cached.bytes - 1);
        ok(sconce_graph_destroy(graph));
        assert_eq!(fft::stats(0).bytes, 0);
        scene.queue(scene.stream);
        ok(sconce_device_synchronize(0));
        assert_eq!((fft::stats(0).size, fft::stats(0).bytes), (1, cached.bytes));
        Ok(())
    });
    outcome.unwrap();
}
