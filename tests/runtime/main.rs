//! Start-up, forks, ends of threads and processes, failing driver calls, logging and profiling.

mod environment;
mod explicit_streams;
mod faults;
mod foreign_contexts;
mod foreign_streams;
mod fork;
mod host_functions;
mod kernels_capture;
mod latency;
mod log_callbacks;
mod nvtx;
mod parallel;
mod per_thread_streams;
mod races;
mod startup;
mod thread_end;
