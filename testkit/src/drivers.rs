//! The drivers that tests of the allocator run on: the simulator, and the fake driver, which hands freed
//! addresses out again at once.

use crate::fake_cuda::Built;

/// A driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    Simulator,
    /// The fake driver, whose memory calls take so many microseconds. It has no kernels: a program on it
    /// cannot keep a stream busy, and events are complete at once.
    Fake {
        delay_us: u32,
    },
}

impl Driver {
    /// Whether streams can be kept busy.
    pub fn runs_work(self) -> bool {
        self == Driver::Simulator
    }
}

/// Runs a scenario in a process of its own, as [`crate::in_child`] does, on one device with so many MiB.
pub fn in_child(
    test: &str,
    driver: Driver,
    mib: usize,
    environment: &[(&str, &str)],
    scenario: impl FnOnce(),
) {
    let memory = format!("{mib}M");
    let mut environment = environment.to_vec();
    environment.push(("SCONCE_LOG", "off"));
    let Driver::Fake { delay_us } = driver else {
        environment.extend([
            ("SCONCE_BACKEND", "sim"),
            ("SCONCE_SIM_DEVICES", "1"),
            ("SCONCE_SIM_MEMORY", &memory),
        ]);
        return crate::in_child(test, &environment, scenario);
    };
    // The child finds the library that its parent built.
    let path = std::env::var("SCONCE_LIBCUDA").ok().filter(|_| crate::is_child());
    let (capacity, delay) = (format!("CAPACITY={}", mib << 20), format!("DELAY_US={delay_us}"));
    let defines = [capacity.as_str(), &delay, "DEVICE_COUNT=1"];
    let built = path.is_none().then(|| Built::new("fake_cuda.c", "libcuda.so.1", &defines));
    let path = built.as_ref().map_or_else(|| path.unwrap_or_default(), Built::path);
    environment.extend([
        ("SCONCE_BACKEND", "cuda"),
        ("SCONCE_LIBCUDA", path.as_str()),
        ("SCONCE_LIBNVML", "no-nvml-here.so"),
    ]);
    crate::in_child(test, &environment, scenario);
}
