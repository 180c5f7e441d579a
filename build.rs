//! Gives the shared library its soname and keeps it in the process once loaded.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // The soname carries the ABI number, which is `SCONCE_ABI_VERSION` in src/library/version.rs.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libsconce.so.0");
        // Threads of the library and its fork handler outlive any dlclose.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
