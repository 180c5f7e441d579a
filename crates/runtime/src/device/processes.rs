//! The processes that use a device, in the words of `torch.cuda.list_gpu_processes`.

use std::fmt::Write as _;

use sconce_base::error::Result;
use sconce_driver::ProcessUsage;

use super::index::resolve;
use crate::context::runtime_if_any;

/// A line for the device, then a line for each process.
pub fn list_processes(index: i32) -> Result<String> {
    let Some(runtime) = runtime_if_any()? else {
        return Ok(String::from("cuda driver can't be loaded, is cuda enabled?"));
    };
    let device = resolve(runtime, index)?;
    Ok(render(device.as_i32(), &runtime.driver().device_processes(device)?))
}

fn render(device: i32, processes: &[ProcessUsage]) -> String {
    let mut text = format!("GPU:{device}");
    if processes.is_empty() {
        text.push_str("\nno processes are running");
    }
    for process in processes {
        let pid = process.pid;
        // Writing to a String cannot fail.
        let _ = match process.used_bytes {
            Some(bytes) => {
                let mebibytes = bytes as f64 / (1024.0 * 1024.0);
                write!(text, "\nprocess {pid:>10} uses {mebibytes:>12.3} MB GPU memory")
            }
            None => write!(text, "\nprocess {pid:>10} uses          N/A MB GPU memory"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_torchs() {
        assert_eq!(render(1, &[]), "GPU:1\nno processes are running");
        let usage = |pid, used_bytes| ProcessUsage { pid, used_bytes };
        assert_eq!(
            render(0, &[usage(4242, Some(3 << 19)), usage(7, None)]),
            "GPU:0\nprocess       4242 uses        1.500 MB GPU memory\n\
             process          7 uses          N/A MB GPU memory"
        );
    }
}
