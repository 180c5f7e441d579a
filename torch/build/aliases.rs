//! Empty libraries with the names of PyTorch's, which compiled models and kernel libraries list as needed. They are
//! part of this library and opened before a model is: the loader then takes them for the ones that the model names.

use std::path::Path;

/// The names, each with its place in `OUT_DIR/aliases`.
const NAMES: &[&str] = &[
    "libc10.so",
    "libc10_cuda.so",
    "libtorch.so",
    "libtorch_cpu.so",
    "libtorch_cuda.so",
    "libtorch_python.so",
];

pub(crate) fn build(out: &Path) {
    let folder = out.join("aliases");
    std::fs::create_dir_all(&folder).unwrap();
    let mut table = String::from("pub(crate) const ALIASES: &[(&str, &[u8])] = &[\n");
    for name in NAMES {
        let file = folder.join(name);
        shared_library(out, name, "", &file, &["-nostdlib", "-Wl,-z,noseparate-code", "-Wl,-s"]);
        table.push_str(&format!(
            "    ({name:?}, include_bytes!({:?})),\n",
            file.display().to_string()
        ));
    }
    table.push_str("];\n");
    std::fs::write(out.join("aliases.rs"), table).unwrap();
}

/// Compiles C source to a shared library with a soname.
pub(crate) fn shared_library(out: &Path, soname: &str, source: &str, file: &Path, flags: &[&str]) {
    let path = out.join(format!("{soname}.c"));
    // An empty translation unit is an error with -Wpedantic.
    std::fs::write(&path, format!("typedef int sconce_translation_unit;\n{source}")).unwrap();
    let status = cc::Build::new()
        .cargo_metadata(false)
        .get_compiler()
        .to_command()
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(file)
        .arg(&path)
        .arg(format!("-Wl,-soname,{soname}"))
        .args(["-Wl,--build-id=none"])
        .args(flags)
        .status()
        .expect("a C compiler is needed; install gcc or set CC");
    assert!(status.success(), "the C compiler failed on {}", path.display());
}
