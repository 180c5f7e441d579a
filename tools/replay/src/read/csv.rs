//! A list of events, one a line: `a,ID,BYTES,STREAM` allocates, `f,ID,BYTES,STREAM` frees. The
//! first line may be `# ` and a JSON object with the figures that PyTorch reported for the recorded
//! run.

use std::io::{BufRead, Read as _};

use serde::Deserialize;

use crate::error::{Failure, Result};
use crate::trace::{Recorded, Trace, TraceBuilder};

/// The first line. Other fields are ignored.
#[derive(Default, Deserialize)]
struct Metadata {
    workload: Option<String>,
    torch: Option<String>,
    gpu: Option<String>,
    conf: Option<String>,
    peak_requested: Option<u64>,
    peak_allocated: Option<u64>,
    peak_reserved: Option<u64>,
}

/// The longest line that is read, in bytes. Events are shorter than a hundred; the first line may
/// be longer.
const LONGEST_LINE: u64 = 1 << 20;

pub(super) fn read<R: BufRead>(mut source: R) -> Result<Trace> {
    let mut builder = TraceBuilder::default();
    let mut line = String::new();
    for number in 1_usize.. {
        let at_line = |failure: Failure| failure.context(format_args!("line {number}"));
        line.clear();
        let bytes = source.by_ref().take(LONGEST_LINE + 1).read_line(&mut line);
        let bytes = bytes.map_err(|error| at_line(Failure::new(error.to_string())))?;
        if bytes == 0 {
            break;
        }
        if bytes as u64 > LONGEST_LINE {
            return Err(at_line(Failure::new(format!(
                "it is longer than {LONGEST_LINE} bytes, so this is no list of events"
            ))));
        }
        match line.trim() {
            "" => {}
            text if number == 1 && text.starts_with('#') => {
                builder.notes().recorded = metadata(&text[1..]).map_err(at_line)?;
            }
            text => event(&mut builder, text).map_err(at_line)?,
        }
    }
    builder.finish()
}

fn metadata(text: &str) -> Result<Recorded> {
    let metadata: Metadata = serde_json::from_str(text)
        .map_err(|error| Failure::new(format!("after # a JSON object is expected: {error}")))?;
    Ok(Recorded {
        workload: metadata.workload,
        torch: metadata.torch,
        gpu: metadata.gpu,
        conf: metadata.conf,
        peak_requested: metadata.peak_requested,
        peak_allocated: metadata.peak_allocated,
        peak_reserved: metadata.peak_reserved,
    })
}

fn event(builder: &mut TraceBuilder, text: &str) -> Result<()> {
    let mut fields = text.split(',');
    let (kind, id, bytes, stream) = (fields.next(), fields.next(), fields.next(), fields.next());
    let (Some(kind), Some(id), Some(bytes), Some(stream), None) =
        (kind, id, bytes, stream, fields.next())
    else {
        return Err(Failure::new(format!(
            "\"{text}\" is no event; events are a,ID,BYTES,STREAM and f,ID,BYTES,STREAM"
        )));
    };
    let id = number("ID", id)?;
    match kind {
        "a" => builder.alloc(id, number("BYTES", bytes)?, number("STREAM", stream)?),
        "f" if builder.free(id) => Ok(()),
        "f" => Err(Failure::new(format!("allocation {id} is freed, but is not there"))),
        _ => Err(Failure::new(format!(
            "an event begins with a (allocate) or f (free), not \"{kind}\""
        ))),
    }
}

fn number(name: &str, text: &str) -> Result<u64> {
    text.parse().map_err(|_| Failure::new(format!("{name} is \"{text}\", which is no number")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Kind;

    #[test]
    fn events_and_metadata_are_read() {
        let text = "# {\"workload\": \"tiny\", \"torch\": \"2.11.0\", \"wall_s\": 1.5, \
                    \"peak_reserved\": 2097152}\na,0,100,0\na,1,0,2\n\nf,0,100,0\n";
        let trace = read(text.as_bytes()).unwrap();
        assert_eq!(trace.recorded.workload.as_deref(), Some("tiny"));
        assert_eq!(trace.recorded.peak_reserved, Some(2 << 20));
        assert_eq!(trace.recorded.peak_allocated, None);
        let kinds: Vec<Kind> = trace.events.iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [Kind::Alloc, Kind::Alloc, Kind::Free]);
        assert_eq!((trace.streams, trace.peak_requested), (3, 100));
    }

    #[test]
    fn an_endless_line_is_refused_before_it_is_in_memory() {
        let start = std::io::Cursor::new(b"a,0,100,0\n");
        let endless = std::io::BufReader::new(start.chain(std::io::repeat(b'1')));
        let failure = read(endless).unwrap_err().to_string();
        assert!(failure.starts_with("line 2: it is longer than 1048576 bytes"), "{failure}");
        let longest = format!("a,0,{}100,0\n", "0".repeat((1 << 20) - 10));
        assert_eq!(read(longest.as_bytes()).unwrap().peak_requested, 100);
    }

    #[test]
    fn errors_name_the_line_and_what_is_wrong() {
        for (text, words) in [
            ("# not json\na,0,1,0\n", "line 1: after # a JSON object is expected"),
            ("a,0,1,0\na,1,1\n", "line 2: \"a,1,1\" is no event"),
            ("a,0,1,0\nx,1,1,0\n", "line 2: an event begins with a (allocate) or f (free)"),
            ("a,0,many,0\n", "line 1: BYTES is \"many\""),
            ("a,0,-5,0\n", "line 1: BYTES is \"-5\""),
            ("a,0,1,0,9\n", "line 1: \"a,0,1,0,9\" is no event"),
            ("a,0,1,0\na,0,1,0\n", "line 2: allocation 0 exists already"),
            ("a,0,1,0\nf,3,1,0\n", "line 2: allocation 3 is freed, but is not there"),
            ("\n\n", "it holds no allocation"),
        ] {
            let failure = read(text.as_bytes()).unwrap_err().to_string();
            assert!(failure.starts_with(words), "{failure}");
        }
        let failure = read(&b"a,0,1,0\n\xff\xfe\n"[..]).unwrap_err().to_string();
        assert!(failure.starts_with("line 2: "), "{failure}");
    }
}
