//! The global switches: TF32, cuDNN's choice of algorithms, determinism.
//!
//! They apply to the whole process and need no device. TF32 for matrix products is on by default, unlike
//! in torch since 1.12; `TORCH_ALLOW_TF32_CUBLAS_OVERRIDE` changes the default. Under
//! `NVIDIA_TF32_OVERRIDE=0` TF32 is off whatever is set, because NVIDIA's libraries obey that variable first.

use once_cell::race::OnceBox;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

use sconce_base::config::Config;
use sconce_base::error::{Error, Result};

/// The precision of products of float32 matrices. The values are those of the C API.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatmulPrecision {
    /// IEEE float32.
    Highest = 0,
    /// TF32 inputs.
    High = 1,
    /// On CUDA the same as `High`.
    Medium = 2,
}

impl TryFrom<i32> for MatmulPrecision {
    type Error = Error;

    fn try_from(value: i32) -> Result<Self> {
        match value {
            0 => Ok(MatmulPrecision::Highest),
            1 => Ok(MatmulPrecision::High),
            2 => Ok(MatmulPrecision::Medium),
            _ => Err(Error::invalid_argument(format!(
                "precision is {value}; it must be 0 (highest), 1 (high) or 2 (medium)"
            ))),
        }
    }
}

/// Nothing was set: products of this library may use TF32, and other libraries have defaults of their own.
const NOT_SET: i32 = -1;

struct Switches {
    /// `MatmulPrecision`, or `NOT_SET`.
    matmul_precision: AtomicI32,
    allow_tf32_cudnn: AtomicBool,
    benchmark_cudnn: AtomicBool,
    benchmark_limit_cudnn: AtomicI32,
    deterministic_cudnn: AtomicBool,
    deterministic_algorithms: AtomicBool,
    tf32_forbidden: bool,
}

impl Switches {
    fn new(config: &Config) -> Self {
        let allow = config.allow_tf32_cublas_override;
        Switches {
            matmul_precision: AtomicI32::new(
                allow.map_or(NOT_SET, |allow| precision_for(allow) as i32),
            ),
            allow_tf32_cudnn: AtomicBool::new(true),
            benchmark_cudnn: AtomicBool::new(false),
            benchmark_limit_cudnn: AtomicI32::new(10),
            deterministic_cudnn: AtomicBool::new(false),
            deterministic_algorithms: AtomicBool::new(false),
            tf32_forbidden: config.tf32_forbidden,
        }
    }

    fn matmul_precision(&self) -> MatmulPrecision {
        match self.matmul_precision.load(Relaxed) {
            _ if self.tf32_forbidden => MatmulPrecision::Highest,
            1 | NOT_SET => MatmulPrecision::High,
            2 => MatmulPrecision::Medium,
            _ => MatmulPrecision::Highest,
        }
    }
}

/// The switches of the process. Made without a lock, so that a forked child never waits for a thread of its
/// parent that was making them.
fn switches() -> &'static Switches {
    static SWITCHES: OnceBox<Switches> = OnceBox::new();
    SWITCHES.get_or_init(|| Box::new(Switches::new(Config::get())))
}

fn precision_for(allow_tf32: bool) -> MatmulPrecision {
    if allow_tf32 { MatmulPrecision::High } else { MatmulPrecision::Highest }
}

/// Sets whether products of float32 matrices use TF32.
pub fn set_allow_tf32_cublas(allow: bool) {
    set_matmul_precision(precision_for(allow));
}

/// Whether products of float32 matrices use TF32 on the calling thread.
#[inline]
pub fn allow_tf32_cublas() -> bool {
    match THREADS_DIFFER.load(Relaxed).then(|| TF32_OF_THREAD.get()).flatten() {
        Some(allow) => allow && !switches().tf32_forbidden,
        None => matmul_precision() != MatmulPrecision::Highest,
    }
}

/// What was set for products on the calling thread: by the thread, the process, or the environment. `None` if nothing
/// was.
pub fn tf32_cublas_setting() -> Option<bool> {
    let switches = switches();
    if switches.tf32_forbidden {
        return Some(false);
    }
    TF32_OF_THREAD.get().or_else(|| match switches.matmul_precision.load(Relaxed) {
        NOT_SET => None,
        precision => Some(precision != MatmulPrecision::Highest as i32),
    })
}

/// Whether a thread ever chose for itself: until then no thread looks.
static THREADS_DIFFER: AtomicBool = AtomicBool::new(false);

thread_local! {
    static TF32_OF_THREAD: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Sets whether products of float32 matrices use TF32 on the calling thread; `None` follows the process. Returns what
/// was set before.
pub fn set_thread_allow_tf32_cublas(allow: Option<bool>) -> Option<bool> {
    if allow.is_some() {
        THREADS_DIFFER.store(true, Relaxed);
    }
    TF32_OF_THREAD.replace(allow)
}

/// Sets the switch of [`set_allow_tf32_cublas`] by one of torch's three words.
pub fn set_matmul_precision(precision: MatmulPrecision) {
    switches().matmul_precision.store(precision as i32, Relaxed);
}

/// The precision in force.
pub fn matmul_precision() -> MatmulPrecision {
    switches().matmul_precision()
}

/// Sets whether convolutions use TF32.
pub fn set_allow_tf32_cudnn(allow: bool) {
    switches().allow_tf32_cudnn.store(allow, Relaxed);
}

/// Whether convolutions use TF32.
pub fn allow_tf32_cudnn() -> bool {
    switches().allow_tf32_cudnn.load(Relaxed) && !switches().tf32_forbidden
}

/// Sets whether cuDNN times its algorithms and keeps the fastest.
pub fn set_benchmark_cudnn(benchmark: bool) {
    switches().benchmark_cudnn.store(benchmark, Relaxed);
}

/// Whether cuDNN times its algorithms.
pub fn benchmark_cudnn() -> bool {
    switches().benchmark_cudnn.load(Relaxed)
}

/// Sets the most algorithms that cuDNN times; 0 is all.
pub fn set_benchmark_limit_cudnn(limit: i32) -> Result<()> {
    if limit < 0 {
        return Err(Error::invalid_argument(format!(
            "limit is {limit}; it must be 0 (all algorithms) or the number of algorithms to try"
        )));
    }
    switches().benchmark_limit_cudnn.store(limit, Relaxed);
    Ok(())
}

/// The most algorithms that cuDNN times; 0 is all.
pub fn benchmark_limit_cudnn() -> i32 {
    switches().benchmark_limit_cudnn.load(Relaxed)
}

/// Sets whether cuDNN uses deterministic algorithms only.
pub fn set_deterministic_cudnn(deterministic: bool) {
    switches().deterministic_cudnn.store(deterministic, Relaxed);
}

/// Whether cuDNN uses deterministic algorithms only.
pub fn deterministic_cudnn() -> bool {
    switches().deterministic_cudnn.load(Relaxed)
}

/// Sets whether all libraries use deterministic algorithms only.
pub fn set_deterministic_algorithms(deterministic: bool) {
    switches().deterministic_algorithms.store(deterministic, Relaxed);
}

/// Whether all libraries use deterministic algorithms only.
pub fn deterministic_algorithms() -> bool {
    switches().deterministic_algorithms.load(Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switches(override_: Option<bool>, tf32_forbidden: bool) -> Switches {
        let config = Config {
            allow_tf32_cublas_override: override_,
            tf32_forbidden,
            ..Config::get().clone()
        };
        Switches::new(&config)
    }

    #[test]
    fn tf32_is_on_unless_the_environment_says_otherwise() {
        assert_eq!(switches(None, false).matmul_precision(), MatmulPrecision::High);
        assert_eq!(switches(Some(false), false).matmul_precision(), MatmulPrecision::Highest);
        assert_eq!(switches(Some(true), true).matmul_precision(), MatmulPrecision::Highest);
    }

    #[test]
    fn what_was_set_is_told_from_the_default() {
        assert_eq!(tf32_cublas_setting(), None);
        assert!(allow_tf32_cublas());
        set_thread_allow_tf32_cublas(Some(false));
        assert_eq!(tf32_cublas_setting(), Some(false));
        assert_eq!(std::thread::spawn(tf32_cublas_setting).join().unwrap(), None);
        set_thread_allow_tf32_cublas(None);
        assert_eq!(tf32_cublas_setting(), None);
        set_allow_tf32_cublas(true);
        assert_eq!(tf32_cublas_setting(), Some(true));
        set_matmul_precision(MatmulPrecision::Highest);
        assert_eq!(tf32_cublas_setting(), Some(false));
        set_matmul_precision(MatmulPrecision::Medium);
        assert_eq!(std::thread::spawn(tf32_cublas_setting).join().unwrap(), Some(true));
    }

    #[test]
    fn a_thread_may_choose_for_itself() {
        let before = allow_tf32_cublas();
        assert_eq!(set_thread_allow_tf32_cublas(Some(!before)), None);
        assert_eq!(allow_tf32_cublas(), !before);
        assert_eq!(std::thread::spawn(allow_tf32_cublas).join().unwrap(), before);
        assert_eq!(set_thread_allow_tf32_cublas(None), Some(!before));
        assert_eq!(allow_tf32_cublas(), before);
    }

    #[test]
    fn the_two_spellings_of_the_switch_agree() {
        let switches = switches(None, false);
        for (precision, allowed) in [
            (MatmulPrecision::Highest, false),
            (MatmulPrecision::Medium, true),
            (MatmulPrecision::High, true),
        ] {
            switches.matmul_precision.store(precision as i32, Relaxed);
            assert_eq!(switches.matmul_precision(), precision);
            assert_eq!(switches.matmul_precision() != MatmulPrecision::Highest, allowed);
        }
        assert!(MatmulPrecision::try_from(3).is_err());
    }
}
