//! The functions, structs and constants of libsconce's C headers, which document them. The build script writes them; the linker
//! checks that libsconce.so has each one that is used.

#![allow(missing_docs, reason = "the headers document them")]
#![allow(non_camel_case_types, reason = "the names of the C API")]
#![allow(unsafe_code, reason = "declares functions of C")]
#![allow(clippy::unnecessary_cast, reason = "generated")]
#![allow(unreachable_pub, reason = "generated")]

include!(concat!(env!("OUT_DIR"), "/sconce_api.rs"));
