//! The backends under test, each with the tests that do not apply to it.

use std::sync::OnceLock;

use sconce_base::config::{Config, SimConfig};
use sconce_base::error::{Error, Status};
use sconce_cuda::CudaDriver;
use sconce_driver::Driver;
use sconce_sim::{SimOptions, Simulator};

/// The kernels of the tests.
pub(crate) use sconce_kernels::images::PROBE;

use crate::support::host;
use crate::support::runner::Test;
use crate::support::stage::Stop;

/// A backend.
pub(crate) trait Subject: Sync {
    /// The word for it in test names and on the command line.
    fn name(&self) -> &'static str;
    /// A machine of this backend. `devices` is how many a simulated one should have.
    fn open(&self, devices: i32) -> Result<Machine, Absent>;
    /// What tells this thread's current context apart from any other, 0 for none, learnt past the
    /// driver; `None` for a backend in which nothing depends on it.
    fn current_context(&self) -> Option<usize>;
    /// The tests that the backend cannot pass for a reason that lies in its nature, with the reason.
    fn exclusions(&self) -> &'static [(&'static str, &'static str)];
}

/// A driver, owned by one test or shared by all.
pub(crate) enum Machine {
    /// Made for this test.
    Fresh(Box<dyn Driver>),
    /// The one of the process.
    Shared(&'static dyn Driver),
}

impl Machine {
    /// The same with the sanitizer in front, if the environment asks for it, which then judges the tests, and which the
    /// tests judge. It has one machine in a process: each test needs a process of its own.
    pub(crate) fn checked(self) -> Machine {
        let config = &Config::get().sanitizer;
        if !config.is_on {
            return self;
        }
        let (driver, is_simulated): (&'static dyn Driver, bool) = match self {
            Machine::Fresh(driver) => (Box::leak(driver), true),
            Machine::Shared(driver) => (driver, false),
        };
        Machine::Shared(sconce_sanitizer::wrap(driver, config, is_simulated))
    }

    pub(crate) fn driver(&self) -> &dyn Driver {
        match self {
            Machine::Fresh(driver) => driver.as_ref(),
            Machine::Shared(driver) => *driver,
        }
    }
}

/// Why there is no machine.
pub(crate) enum Absent {
    /// This computer has no such library or device; its tests are skipped.
    NotHere(String),
    /// It should have opened; its tests fail.
    Broken(Error),
}

impl From<Error> for Absent {
    fn from(error: Error) -> Absent {
        match error.status() {
            Status::LibraryNotFound | Status::NoDevice => Absent::NotHere(error.to_string()),
            _ => Absent::Broken(error),
        }
    }
}

impl From<Absent> for Stop {
    fn from(absent: Absent) -> Stop {
        match absent {
            Absent::NotHere(reason) => Stop::Skip(reason),
            Absent::Broken(error) => Stop::Failed(format!("the backend does not open: {error}")),
        }
    }
}

/// Backends in the order in which they run.
const SUBJECTS: &[&dyn Subject] = &[&Simulated, &Cuda];

/// Simulated devices, fresh ones for each test.
struct Simulated;

impl Subject for Simulated {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn open(&self, devices: i32) -> Result<Machine, Absent> {
        let config = SimConfig { devices, ..SimConfig::default() };
        Ok(Machine::Fresh(Box::new(Simulator::new(&config, SimOptions::default())?)))
    }

    fn current_context(&self) -> Option<usize> {
        Some(sconce_sim::context_of_thread())
    }

    fn exclusions(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// The GPUs of this machine; a process opens them once.
struct Cuda;

impl Subject for Cuda {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn open(&self, _devices: i32) -> Result<Machine, Absent> {
        static DRIVER: OnceLock<Result<CudaDriver, Error>> = OnceLock::new();
        match DRIVER.get_or_init(|| CudaDriver::open(Config::get())) {
            Ok(driver) => Ok(Machine::Shared(driver)),
            Err(error) => Err(error.clone().into()),
        }
    }

    fn current_context(&self) -> Option<usize> {
        Some(host::cuda_current_context())
    }

    fn exclusions(&self) -> &'static [(&'static str, &'static str)] {
        &[
            (
                "memory::fresh_memory_does_not_read_as_zeros",
                "what fresh memory holds is up to the GPU's driver, which often clears it",
            ),
            (
                "virtual_memory::a_mapping_may_start_within_its_memory",
                "cuMemMap takes offset 0 only",
            ),
            (
                "virtual_memory::unmapping_what_is_not_mapped_is_refused",
                "cuMemUnmap of reserved address space succeeds (seen with driver 580)",
            ),
            (
                "errors::a_failure_stays_on_its_device",
                "after a fault on one device cuMemAlloc fails on all of them (seen with driver 580)",
            ),
        ]
    }
}

/// The backends that `SCONCE_TEST_BACKEND` asks for.
pub(crate) fn chosen() -> Result<Vec<&'static dyn Subject>, String> {
    let wish = std::env::var("SCONCE_TEST_BACKEND").unwrap_or_else(|_| "all".to_owned());
    if wish == "all" || wish.is_empty() {
        return Ok(SUBJECTS.to_vec());
    }
    let subject = by_name(&wish);
    subject
        .map(|subject| vec![subject])
        .ok_or_else(|| format!("SCONCE_TEST_BACKEND={wish} is not sim, cuda or all"))
}

/// The backend of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static dyn Subject> {
    SUBJECTS.iter().copied().find(|subject| subject.name() == name)
}

/// Why a test does not apply to a backend, if it does not.
pub(crate) fn exclusion(subject: &dyn Subject, test: &str) -> Option<&'static str> {
    let mut rows = subject.exclusions().iter();
    rows.find(|(name, _)| *name == test).map(|(_, reason)| *reason)
}

/// Checks that each exclusion names a test that exists.
pub(crate) fn check_exclusions(tests: &[Test]) -> Result<(), String> {
    let mut excluded = SUBJECTS.iter().flat_map(|subject| subject.exclusions());
    match excluded.find(|(name, _)| !tests.iter().any(|test| test.short_name() == *name)) {
        Some((name, _)) => Err(format!("an exclusion names {name}, which is no test")),
        None => Ok(()),
    }
}
