//! Libraries with the CUDA runtime's names and the functions of `src/runtime`: each function jumps to the address that
//! a table has for it, which is written when the library is opened.

use std::fmt::Write;
use std::path::Path;

/// The sonames, whose versions the symbols have, too.
const NAMES: &[&str] = &["libcudart.so.12", "libcudart.so.13"];

/// The functions, in the order of the table.
const FUNCTIONS: &[&str] = &[
    "__cudaGetKernel",
    "__cudaInitModule",
    "__cudaLaunchKernel",
    "__cudaPopCallConfiguration",
    "__cudaPushCallConfiguration",
    "__cudaRegisterFatBinary",
    "__cudaRegisterFatBinaryEnd",
    "__cudaRegisterFunction",
    "__cudaRegisterVar",
    "__cudaUnregisterFatBinary",
    "cudaDeviceGetAttribute",
    "cudaDeviceSynchronize",
    "cudaDriverGetVersion",
    "cudaEventCreate",
    "cudaEventCreateWithFlags",
    "cudaEventDestroy",
    "cudaEventElapsedTime",
    "cudaEventQuery",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaFree",
    "cudaFreeAsync",
    "cudaFreeHost",
    "cudaFuncGetAttributes",
    "cudaFuncSetAttribute",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetDeviceProperties",
    "cudaGetDeviceProperties_v2",
    "cudaGetDriverEntryPoint",
    "cudaGetDriverEntryPointByVersion",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaGetLastError",
    "cudaHostAlloc",
    "cudaHostGetDevicePointer",
    "cudaIpcCloseMemHandle",
    "cudaIpcGetMemHandle",
    "cudaIpcOpenMemHandle",
    "cudaLaunchCooperativeKernel",
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaMallocHost",
    "cudaMemGetInfo",
    "cudaMemcpy",
    "cudaMemcpy2DAsync",
    "cudaMemcpyAsync",
    "cudaMemcpyToSymbol",
    "cudaMemset",
    "cudaMemsetAsync",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaPeekAtLastError",
    "cudaPointerGetAttributes",
    "cudaRuntimeGetVersion",
    "cudaSetDevice",
    "cudaStreamCreate",
    "cudaStreamCreateWithFlags",
    "cudaStreamCreateWithPriority",
    "cudaStreamDestroy",
    "cudaStreamIsCapturing",
    "cudaStreamQuery",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
    "cudaThreadExchangeStreamCaptureMode",
];

pub(crate) fn build(out: &Path) {
    let folder = out.join("runtime");
    std::fs::create_dir_all(&folder).unwrap();
    let mut source =
        format!("void *sconce_runtime_table[{}];\n__asm__(\".text\\n\"\n", FUNCTIONS.len());
    for (at, name) in FUNCTIONS.iter().enumerate() {
        writeln!(
            source,
            "\".globl {name}\\n.type {name}, @function\\n{name}:\\n\\tendbr64\\n\
             \\tmovq sconce_runtime_table@GOTPCREL(%rip), %rax\\n\\tjmp *{}(%rax)\\n.size {name}, . - {name}\\n\"",
            at * 8
        )
        .unwrap();
    }
    source.push_str(");\n");
    let mut table = format!(
        "/// The functions, in the order of the libraries' tables.\nconst NAMES: &[&str] = &{FUNCTIONS:?};\n/// The libraries.\nconst LIBRARIES: &[(&str, &[u8])] = &[\n"
    );
    for name in NAMES {
        let versions = folder.join(format!("{name}.map"));
        std::fs::write(
            &versions,
            format!("{name} {{ global: cuda*; __cuda*; sconce_runtime_table; local: *; }};\n"),
        )
        .unwrap();
        let file = folder.join(name);
        let script = format!("-Wl,--version-script={}", versions.display());
        let flags =
            ["-nostdlib", "-Wl,-z,noseparate-code", "-Wl,-s", "-Wl,-Bsymbolic", script.as_str()];
        crate::aliases::shared_library(out, name, &source, &file, &flags);
        writeln!(table, "    ({name:?}, include_bytes!({:?})),", file.display().to_string())
            .unwrap();
    }
    table.push_str("];\n");
    std::fs::write(out.join("runtime.rs"), table).unwrap();
}
