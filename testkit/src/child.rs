//! A test in a process of its own, with an environment of its own.

use crate::threads::asked_seconds;

const SCENARIO: &str = "SCONCE_TEST_SCENARIO";

/// Whether this process is the child of [`in_child`].
pub fn is_child() -> bool {
    std::env::var_os(SCENARIO).is_some()
}

/// Runs a scenario in a process of its own, with an environment of its own: start-up happens once a
/// process. Call it from a test; in the child the same test runs `scenario` and nothing else.
///
/// A child that has not ended after five minutes, or what `SCONCE_TEST_SECONDS` asks for and five minutes, hangs: it is
/// killed and fails the test. The longest take 10 s on an idle machine.
pub fn in_child(test: &str, environment: &[(&str, &str)], scenario: impl FnOnce()) {
    if std::env::var(SCENARIO).as_deref() == Ok(test) {
        scenario();
        return;
    }
    assert!(std::env::var_os(SCENARIO).is_none(), "scenario {test} was not found in the child");
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args([full_name(test).as_str(), "--exact", "--nocapture"]).env(SCENARIO, test);
    for name in [
        "CUDA_VISIBLE_DEVICES",
        "SCONCE_BACKEND",
        "SCONCE_LOG",
        "SCONCE_SIM_DEVICES",
        "SCONCE_SIM_MEMORY",
        "SCONCE_SIM_LATENCY_NS",
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
    let most = std::time::Duration::from_secs_f64(300.0 + asked_seconds().unwrap_or(0.0));
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

/// The name with which the test harness picks a test of this program: its module's path before its own name.
///
/// The harness names the thread of a test after it. With `--test-threads=1` there is no such thread; then the
/// test that runs is the one that the harness was asked for.
pub fn full_name(test: &str) -> String {
    let is_named = |name: &str| name == test || name.ends_with(&format!("::{test}"));
    let thread = std::thread::current();
    let mut arguments = std::env::args().skip(1);
    let name = thread.name().map(str::to_owned).filter(|name| is_named(name));
    let name = name.or_else(|| arguments.find(|argument| is_named(argument)));
    name.unwrap_or_else(|| panic!("{test} is not the name of the test that runs on {thread:?}"))
}
