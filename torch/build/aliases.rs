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

/// Functions that glibc has since 2.38, for models that were compiled with it and run with an older one.
const NEWER_FUNCTIONS: &str = "libsconce_torch_newer.so";
const NEWER_SOURCE: &str = "#include <stdlib.h>\n\
    long __isoc23_strtol(const char *s, char **e, int b) { return strtol(s, e, b); }\n\
    long long __isoc23_strtoll(const char *s, char **e, int b) { return strtoll(s, e, b); }\n\
    unsigned long __isoc23_strtoul(const char *s, char **e, int b) { return strtoul(s, e, b); }\n\
    unsigned long long __isoc23_strtoull(const char *s, char **e, int b) { return strtoull(s, e, b); }\n";

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
    let file = folder.join(NEWER_FUNCTIONS);
    shared_library(
        out,
        NEWER_FUNCTIONS,
        NEWER_SOURCE,
        &file,
        &["-D_DEFAULT_SOURCE", "-std=c99", "-Wl,-s"],
    );
    table.push_str(&format!(
        "    ({NEWER_FUNCTIONS:?}, include_bytes!({:?})),\n];\npub(crate) const NEWER_FUNCTIONS: &str = {NEWER_FUNCTIONS:?};\n",
        file.display().to_string()
    ));
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
