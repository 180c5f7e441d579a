//! Parts of tests that need a process of their own: the suite's binary, run again.
//!
//! `--child <backend> <role>` runs one role. The two processes talk in lines over the child's
//! standard input and output; the child's exit status says how it went.

use std::io::{BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use crate::support::stage::{Outcome, Stage, Stop};

/// What a child process does.
pub(crate) struct Role {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Stage<'_>) -> Outcome,
}

/// A running child.
pub(crate) struct Child {
    role: &'static str,
    process: std::process::Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Child {
    /// Starts a role on the same backend.
    pub(crate) fn start(stage: &Stage<'_>, role: &'static str) -> Child {
        let mut process = Command::new(std::env::current_exe().expect("the path of this binary"))
            .args(["--child", stage.subject.name(), role])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this binary starts again");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("a pipe was asked for"));
        Child { role, process, input, output }
    }

    /// Sends a line.
    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("open until the child is awaited");
        writeln!(input, "{line}").expect("the child listens");
        input.flush().expect("the child listens");
    }

    /// The child's next line.
    #[track_caller]
    pub(crate) fn hear(&mut self) -> String {
        match next_line(&mut self.output) {
            Some(line) => line,
            None => panic!("the child {:?} ended too early; its words are above", self.role),
        }
    }

    /// Waits for the child and sees that it went well.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Outcome {
        self.input = None;
        let mut skipped = None;
        while let Some(line) = next_line(&mut self.output) {
            match line.strip_prefix("skip: ") {
                Some(reason) => skipped = Some(reason.to_owned()),
                None => println!("    {}: {line}", self.role),
            }
        }
        let status = self.process.wait().expect("a child can be awaited");
        assert!(status.success(), "the child {:?} failed: {status}; see above", self.role);
        skipped.map_or(Ok(()), |reason| Err(Stop::Skip(reason)))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Already ended, unless the test failed before; then nobody waits for it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs a role to its end and sees that it went well.
#[track_caller]
pub(crate) fn run(stage: &Stage<'_>, role: &'static str) -> Outcome {
    Child::start(stage, role).finish()
}

/// In the child: sends a line to the parent.
pub(crate) fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().expect("the parent listens");
}

/// In the child: the parent's next line.
pub(crate) fn hear() -> String {
    next_line(&mut std::io::stdin().lock()).expect("the parent speaks")
}

fn next_line(from: &mut dyn std::io::BufRead) -> Option<String> {
    let mut line = String::new();
    match from.read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line.trim_end().to_owned()),
    }
}

/// Bytes as text.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Text as 64 bytes.
pub(crate) fn from_hex(text: &str) -> [u8; 64] {
    let mut bytes = [0; 64];
    assert_eq!(text.len(), 128, "not 64 bytes: {text:?}");
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hexadecimal");
    }
    bytes
}
