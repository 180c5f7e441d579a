//! The committed C headers are what the sources give. `SCONCE_BLESS=1` writes them anew.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod abi;
mod comments;
mod folders;
mod generate;
mod layout;
mod marks;
mod names;
mod operations;
mod streams;
mod torch_headers;

use std::path::{Path, PathBuf};
use testkit::structs;

/// The texts of all headers that the sources give.
fn generated() -> String {
    generate::headers().into_iter().map(|(_, text)| text).collect()
}

#[test]
fn the_committed_headers_are_what_the_sources_give() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/sconce");
    let headers = generate::headers();
    for (file, header) in &headers {
        let path = folder.join(file);
        if std::env::var_os("SCONCE_BLESS").is_some() {
            std::fs::write(&path, header).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        if let Some((number, (new, old))) =
            header.lines().zip(committed.lines()).enumerate().find(|(_, (new, old))| new != old)
        {
            panic!(
                "include/sconce/{file} differs from the sources at line {}:\n sources: {new}\n \
                 header:  {old}\nrun SCONCE_BLESS=1 cargo test --test header_sync and commit",
                number + 1
            );
        }
        assert_eq!(
            header.len(),
            committed.len(),
            "{file} is shorter or longer than the sources say"
        );
    }
    for entry in std::fs::read_dir(folder.join("c")).unwrap() {
        let name = format!("c/{}", entry.unwrap().file_name().into_string().unwrap());
        assert!(headers.iter().any(|(file, _)| *file == name), "no source gives {name}");
    }
}

#[test]
fn every_file_of_the_boundary_is_in_the_header() {
    let header = generated();
    for source in testkit::header::boundary_sources() {
        for line in source.lines().filter(|line| line.contains("extern \"C\" fn sconce_")) {
            let name = line.split("fn ").nth(1).unwrap().split('(').next().unwrap();
            assert!(header.contains(&format!("{name}(")), "{name} is missing from the header");
        }
    }
}

#[test]
fn version_macros_follow_the_package() {
    let header = generated();
    for (part, value) in [
        ("MAJOR", env!("CARGO_PKG_VERSION_MAJOR")),
        ("MINOR", env!("CARGO_PKG_VERSION_MINOR")),
        ("PATCH", env!("CARGO_PKG_VERSION_PATCH")),
    ] {
        assert!(header.contains(&format!("#define SCONCE_VERSION_{part} {value}")));
    }
}

/// Compiles a source that includes the header, without a warning; the result's path.
fn compiled(compiler: [&str; 2], name: &str, arguments: &[&str], source: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (file, program) = (folder.join(name), folder.join(format!("{name}.out")));
    std::fs::write(&file, source).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let [variable, usual] = compiler;
    let compiler = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
    let output = std::process::Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"])
        .args(arguments)
        .arg("-I")
        .args([&include, &file])
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    program
}

fn printed(program: &Path) -> String {
    let output = std::process::Command::new(program).output().unwrap();
    assert!(output.status.success(), "{}", program.display());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn initialisers_are_the_same_in_c_and_cpp_and_compile_without_warnings() {
    let header = testkit::header::text();
    let sized: Vec<_> = structs::structs(&header).into_values().collect();
    let mut body = String::new();
    for made in sized.iter().filter(|made| made.tells_its_size()) {
        let (kind, initialiser) = (&made.name, format!("{}_INIT", made.name.to_uppercase()));
        // Static, so that padding is 0 in both languages.
        body += &format!("  {{\n    static {kind} made = {initialiser};\n");
        body += &format!("    show(\"{kind}\", &made, sizeof made);\n");
        body += &format!("    if (sizeof made != {}) return 1;\n  }}\n", made.bytes);
    }
    let source = format!(
        "#include <sconce/sconce_all.h>\n#include <stdio.h>\n\
         static void show(const char *name, const void *made, size_t bytes) {{\n\
         size_t i;\n  printf(\"%s\", name);\n\
         for (i = 0; i < bytes; ++i) printf(\" %02x\", ((const unsigned char *)made)[i]);\n\
         printf(\"\\n\");\n}}\nint main(void) {{\n{body}  return 0;\n}}\n"
    );
    let c = printed(&compiled(["CC", "cc"], "initialisers.c", &["-std=c99"], &source));
    let cpp = printed(&compiled(["CXX", "c++"], "initialisers.cpp", &["-std=c++17"], &source));
    assert_eq!(c, cpp);
    assert_eq!(c.lines().count(), 17);
    for (line, made) in c.lines().zip(sized.iter().filter(|made| made.tells_its_size())) {
        let size: Vec<String> =
            (made.bytes as u32).to_ne_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(line.starts_with(&format!("{} {} ", made.name, size.join(" "))), "{line}");
    }
    // A caller that defines the macro first keeps its definition.
    let ignores = "#define SCONCE_NODISCARD\n#include <sconce/sconce_all.h>\n\
                   void unused(void);\nvoid unused(void) { sconce_init(); }\n\
                   int main(void) { return 0; }\n";
    for (compiler, name, standard) in
        [(["CC", "cc"], "ignores.c", "-std=c99"), (["CXX", "c++"], "ignores.cpp", "-std=c++17")]
    {
        compiled(compiler, name, &[standard, "-c"], ignores);
    }
}
