//! Simulated devices whose time is nothing but the modelled one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::places;
use sconce::sconce_status::SCONCE_OK;
use sconce::*;

/// A test that has the simulator to itself, in manual mode with a thread that lets all work go on: what
/// takes longer is decided by the model, however busy this machine is.
pub struct Modelled {
    done: Arc<AtomicBool>,
    going_on: Option<JoinHandle<()>>,
    _alone: MutexGuard<'static, ()>,
}

impl Modelled {
    pub fn begin(latency_ns: u64) -> Modelled {
        let alone = places::alone();
        assert_eq!(sconce_sim_set_latency_ns(latency_ns), SCONCE_OK);
        assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
        let done = Arc::new(AtomicBool::new(false));
        let is_done = done.clone();
        let going_on = std::thread::spawn(move || {
            while !is_done.load(Ordering::Relaxed) {
                sconce::sim_controls::run_until_idle().unwrap();
                std::thread::sleep(Duration::from_micros(20));
            }
        });
        Modelled { done, going_on: Some(going_on), _alone: alone }
    }
}

impl Drop for Modelled {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        let ended = self.going_on.take().map(JoinHandle::join);
        assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
        assert!(std::thread::panicking() || ended.is_some_and(|ended| ended.is_ok()));
    }
}
