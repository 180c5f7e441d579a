//! What variables mean, and what is said of malformed ones.

use super::*;

fn read_as(pairs: &[(&str, &str)], privileged: bool) -> (Config, Vec<String>) {
    let variable = |name: &str| {
        pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    };
    Config::read(&variable, privileged)
}

fn read(pairs: &[(&str, &str)]) -> Config {
    read_as(pairs, false).0
}

#[test]
fn a_privileged_program_takes_no_code_from_its_caller_and_says_so() {
    let home = ("CUDA_HOME", "/tmp");
    let cuda = ("SCONCE_LIBCUDA", "/tmp/libcuda.so");
    let nvtx = ("NVTX_INJECTION64_PATH", "/tmp/tool.so");
    let pairs = [home, cuda, nvtx, ("SCONCE_BACKEND", "sim"), ("SCONCE_LIBCUFFT", "")];
    let (config, complaints) = read_as(&pairs, true);
    assert_eq!((config.libcuda, config.cuda_home, config.nvtx_injection), (None, None, None));
    assert_eq!(config.backend, BackendChoice::Sim);
    for (name, _) in [home, cuda, nvtx] {
        assert!(complaints.iter().any(|text| text.starts_with(name)), "{name}: {complaints:?}");
    }
    assert_eq!(complaints.len(), 3, "{complaints:?}");
    assert_eq!(read(&pairs).libcuda.as_deref(), Some(cuda.1));
}

#[test]
fn a_malformed_value_is_named() {
    let (config, complaints) = read_as(&[("SCONCE_SIM_DEVICES", "abc")], false);
    assert_eq!(config.sim.devices, 2);
    assert_eq!(complaints.len(), 1);
    assert!(complaints[0].contains("SCONCE_SIM_DEVICES=abc"), "{complaints:?}");
}

#[test]
fn nothing_set_gives_the_documented_defaults() {
    let config = read(&[]);
    assert_eq!(config.backend, BackendChoice::Auto);
    assert_eq!(config.sim, SimConfig::default());
    assert_eq!(config.sim.memory_bytes, 4 * 1024 * 1024 * 1024);
    assert!(!config.launch_blocking && !config.tf32_forbidden && !config.sim_reuse_addresses);
    assert!(!config.nvtx_memory);
    assert_eq!(config.check_device, None);
    assert_eq!(config.sim_latency_ns, 5_000);
}

#[test]
fn values_are_read_and_bad_ones_leave_the_default() {
    let config = read(&[
        ("SCONCE_BACKEND", "SIM"),
        ("SCONCE_SIM_DEVICES", "8"),
        ("SCONCE_SIM_MEMORY", "512M"),
        ("SCONCE_SIM_SMS", "-3"),
        ("SCONCE_SIM_REUSE_ADDRESSES", "1"),
        ("CUDA_LAUNCH_BLOCKING", "1"),
        ("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "0"),
        ("NVIDIA_TF32_OVERRIDE", "0"),
        ("SCONCE_CHECK_DEVICE", "1"),
    ]);
    assert_eq!(config.backend, BackendChoice::Sim);
    assert_eq!(config.sim.devices, 8);
    assert_eq!(config.sim.memory_bytes, 512 << 20);
    assert_eq!(config.sim.multi_processors, 132);
    assert!(config.sim_reuse_addresses);
    assert_eq!(config.allow_tf32_cublas_override, Some(false));
    assert!(config.launch_blocking && config.tf32_forbidden && config.check_device == Some(true));
}

#[test]
fn a_latency_is_a_whole_number_of_nanoseconds_and_may_be_0() {
    let read = |value| read_as(&[("SCONCE_SIM_LATENCY_NS", value)], false);
    assert_eq!(["0", " 7 ", ""].map(|value| read(value).0.sim_latency_ns), [0, 7, 5_000]);
    for bad in ["-1", "1.5", "5us", "18446744073709551616"] {
        let (config, complaints) = read(bad);
        assert_eq!((config.sim_latency_ns, complaints.len()), (5_000, 1), "{bad}");
    }
}

#[test]
fn each_library_has_its_variable_and_the_toolkit_two() {
    let found = |name: &str| {
        let c = read(&[(name, "x")]);
        [c.libcuda, c.libnvml, c.libcublas, c.libcudnn, c.libcufft, c.libnvrtc, c.libnccl]
            .map(|path| path.is_some())
    };
    for (at, name) in
        ["CUDA", "NVML", "CUBLAS", "CUDNN", "CUFFT", "NVRTC", "NCCL"].into_iter().enumerate()
    {
        let expected = std::array::from_fn(|i| i == at);
        assert_eq!(found(&format!("SCONCE_LIB{name}")), expected, "{name}");
    }
    let (home, path) = (("CUDA_HOME", "a"), ("CUDA_PATH", "b"));
    assert_eq!(read(&[path]).cuda_home.as_deref(), Some("b"));
    assert_eq!(read(&[path, home]).cuda_home.as_deref(), Some("a"));
}

#[test]
fn the_first_variable_with_an_allocator_configuration_wins() {
    let found = |pairs: &[(&str, &str)]| read(pairs).alloc_conf;
    let own = |name: &str, text: &str| Some((name.to_owned(), text.to_owned()));
    let general = ("PYTORCH_ALLOC_CONF", "backend:native");
    let cuda = ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:64");
    let ours = ("SCONCE_ALLOC_CONF", "policy:segments");
    assert_eq!(found(&[]), None);
    assert_eq!(found(&[general]), own(general.0, general.1));
    assert_eq!(found(&[general, cuda]), own(cuda.0, cuda.1));
    assert_eq!(found(&[general, cuda, ours]), own(ours.0, ours.1));
    assert_eq!(found(&[general, (cuda.0, "")]), own(general.0, general.1));
}

#[test]
fn caching_is_switched_off_by_anything_but_nothing_and_0() {
    let off = |value| read(&[("PYTORCH_NO_CUDA_MEMORY_CACHING", value)]).no_memory_caching;
    assert!(!read(&[]).no_memory_caching);
    assert_eq!(["", "0", "1", "yes"].map(off), [false, false, true, true]);
}

#[test]
fn sizes_take_binary_suffixes_and_refuse_nonsense() {
    assert_eq!(memory_size("4G"), Some(4 << 30));
    assert_eq!(memory_size("4GiB"), Some(4 << 30));
    assert_eq!(memory_size("65536"), Some(65536));
    assert_eq!(memory_size("64 K"), Some(64 << 10));
    for bad in ["", "G", "4T4", "-1", "0", "99999999999999G", "1.5G"] {
        assert_eq!(memory_size(bad), None, "{bad}");
    }
}
