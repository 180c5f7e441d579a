//! Memory of a pool that queued work uses, and every way by which memory leaves a pool: a table of both, for memory of
//! segments and of pages, on devices that give freed addresses to the next request, and on others.
//!
//! The device is in manual mode, so the work is certain to be queued while memory leaves. Whoever gets the memory too
//! early writes to it before the work runs. So either the work or the new owner finds other bytes than its own, or the
//! device fails because the memory is gone.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

pub(crate) mod places;
mod ways;
mod work;

use std::ffi::CStr;

use sconce::*;
use testkit::fork::forked_result;
use testkit::places::{run_until_idle, step_all};
use testkit::stepper::Stepper;

use self::places::{Junk, count_waits, on_thread, reserved};
use self::ways::Way;
use self::work::{Scene, User};
use crate::support::*;

/// One cell of the table, in a process of its own. Says what is wrong.
fn cell(user: User, way: Way, policy: &CStr, reuse: bool) -> Result<(), String> {
    forked_result(|| {
        places::start(policy, reuse);
        let stepper = Stepper::start();
        let mut scene = Scene::new(user, way);
        // Nothing may wait while a thread captures, since its capture would be spoilt.
        let may_wait = way.may_wait(user) && user != User::Capture;
        let waits = count_waits();
        let mut take = || way.take(&mut scene, user);
        stepper.during(may_wait, || match user {
            User::Capture => on_thread(take),
            _ => take(),
        });
        if !may_wait && count_waits() != waits {
            return Err("the call waited for work".to_owned());
        }
        scene.finish();
        let junk = Junk::new(&scene);
        for stream in junk.streams {
            step_all(stream);
        }
        run_until_idle();
        ok(sconce_device_synchronize(0));
        ok(sconce_sim_set_manual(false.into()));
        if !scene.is_right() {
            return Err("the work found other bytes than its own".to_owned());
        }
        junk.check()?;
        // Nothing is lost.
        drop(junk);
        way.undo(&scene);
        scene.end();
        ok(sconce_device_synchronize(0));
        ok(sconce_memory_empty_cache());
        sconce_runtime::memory::check::walk()?;
        match reserved() - scene.before {
            0 => Ok(()),
            more => Err(format!("{more} bytes are lost")),
        }
    })
}

/// All cells of a policy.
fn table(policy: &CStr, reuse: bool) {
    let (mut cells, mut wrong) = (0, Vec::new());
    for user in User::ALL {
        for way in Way::ALL.into_iter().filter(|way| way.applies(user)) {
            cells += 1;
            if let Err(why) = cell(user, way, policy, reuse) {
                wrong.push(format!("{user:?}, {way:?}: {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {cells}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn segments_do_not_leave_before_their_users_are_done() {
    table(c"policy:segments", false);
}

#[test]
fn segments_whose_addresses_come_again_do_not_leave_before_their_users_are_done() {
    table(c"policy:segments", true);
}

#[test]
fn pages_do_not_leave_before_their_users_are_done() {
    table(c"policy:pages", false);
}

#[test]
fn pages_whose_addresses_come_again_do_not_leave_before_their_users_are_done() {
    table(c"policy:pages", true);
}
