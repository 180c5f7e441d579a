//! What several tests need: the header's prototypes, and the shared library cargo built.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

pub mod numbers;

use std::path::{Path, PathBuf};

/// One function of the header.
#[derive(Clone, Debug)]
pub struct Prototype {
    pub name: String,
    pub returns: String,
    /// Type and name of each parameter.
    pub parameters: Vec<(String, String)>,
}

pub fn header() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/sconce/sconce.h");
    std::fs::read_to_string(path).unwrap()
}

/// The functions of the header, in its order.
pub fn prototypes(header: &str) -> Vec<Prototype> {
    let mut code = String::new();
    let mut in_comment = false;
    for line in header.lines() {
        let line = line.trim();
        if line.starts_with("/*") {
            in_comment = true;
        }
        if !in_comment && !line.starts_with('#') && !line.starts_with("//") {
            code.push_str(line);
            code.push(' ');
        }
        if line.ends_with("*/") {
            in_comment = false;
        }
    }
    code.split(';')
        .filter(|statement| !statement.contains("typedef") && !statement.contains("(*"))
        .filter_map(|statement| {
            let (head, rest) = statement.split_once('(')?;
            let (returns, name) = head.trim().rsplit_once([' ', '*'])?;
            let name = name.trim().to_owned();
            if !name.starts_with("sconce_") {
                return None;
            }
            let parameters = rest.trim_end().trim_end_matches(')');
            Some(Prototype {
                name,
                returns: returns
                    .rsplit('}')
                    .next()
                    .unwrap_or(returns)
                    .replace("SCONCE_NODISCARD", "")
                    .trim()
                    .to_owned(),
                parameters: parameters
                    .split(',')
                    .map(str::trim)
                    .filter(|parameter| *parameter != "void" && !parameter.is_empty())
                    .map(|parameter| {
                        let at = parameter.rfind([' ', '*']).unwrap() + 1;
                        (parameter[..at].trim().to_owned(), parameter[at..].to_owned())
                    })
                    .collect(),
            })
        })
        .collect()
}

/// The shared library that was built with this test.
pub fn shared_library() -> PathBuf {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    [deps.join("libsconce.so"), deps.join("../libsconce.so")]
        .into_iter()
        .find(|path| path.exists())
        .expect("cargo builds libsconce.so next to the tests")
}

const SCENARIO: &str = "SCONCE_TEST_SCENARIO";

/// Whether this process is the child of [`in_child`].
pub fn is_child() -> bool {
    std::env::var_os(SCENARIO).is_some()
}

/// Runs a scenario in a process of its own, with an environment of its own: start-up happens once a
/// process. Call it from a test; in the child the same test runs `scenario` and nothing else.
///
/// A child that has not ended after a minute, or what `SCONCE_TEST_SECONDS` asks for and a minute, is
/// killed and fails the test.
pub fn in_child(test: &str, environment: &[(&str, &str)], scenario: impl FnOnce()) {
    if std::env::var(SCENARIO).as_deref() == Ok(test) {
        scenario();
        return;
    }
    assert!(std::env::var_os(SCENARIO).is_none(), "scenario {test} was not found in the child");
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(SCENARIO, test);
    for name in [
        "SCONCE_BACKEND",
        "SCONCE_LOG",
        "SCONCE_SIM_DEVICES",
        "SCONCE_SIM_MEMORY",
        "SCONCE_ALLOC_CONF",
        "PYTORCH_ALLOC_CONF",
        "PYTORCH_CUDA_ALLOC_CONF",
        "PYTORCH_NO_CUDA_MEMORY_CACHING",
        "CUDA_LAUNCH_BLOCKING",
        "NVIDIA_TF32_OVERRIDE",
        "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
        "CUBLAS_WORKSPACE_CONFIG",
        "SCONCE_BLAS_WORKSPACE_MAX",
    ] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Read while it runs: a pipe that nobody empties stops who writes much.
    let texts = [drain(child.stdout.take().unwrap()), drain(child.stderr.take().unwrap())];
    let asked = std::env::var("SCONCE_TEST_SECONDS").ok().and_then(|text| text.parse::<f64>().ok());
    let most = std::time::Duration::from_secs_f64(60.0 + asked.unwrap_or(0.0));
    let deadline = std::time::Instant::now() + most;
    let (mut status, mut hung) = (child.try_wait().unwrap(), false);
    while status.is_none() && !hung {
        std::thread::sleep(std::time::Duration::from_millis(2));
        status = child.try_wait().unwrap();
        hung = std::time::Instant::now() > deadline;
    }
    if status.is_none() {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    let text = texts.map(|text| text.join().unwrap()).concat();
    assert!(!hung, "scenario {test} hung\n{text}");
    assert!(status.success(), "scenario {test}: {status}\n{text}");
    assert!(text.contains("1 passed"), "scenario {test} did not run in the child:\n{text}");
}

fn drain(mut pipe: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        pipe.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// The calling thread's last message.
pub fn last_message() -> String {
    // SAFETY: never NULL, NUL-terminated, and this thread's until its next failure.
    let text = unsafe { std::ffi::CStr::from_ptr(sconce::ffi::sconce_last_error_message()) };
    text.to_string_lossy().into_owned()
}

/// The sources of the C API, `src/ffi`.
pub fn boundary_sources() -> Vec<String> {
    let mut sources = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ffi")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                sources.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    sources
}
