//! Reading a trace from a file. The first bytes decide the format: `0x1f 0x8b` is gzip, around any
//! of the others; `0x80` a pickle and `{` a JSON snapshot of torch's; anything else a list of
//! events.

mod csv;
mod shallow;
mod torch_snapshot;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::{Failure, Result};
use crate::progress::Progress;
use crate::trace::Trace;

/// Reads the trace in a file. `device` chooses among a snapshot's devices; the default is the
/// busiest.
pub(crate) fn read(path: &Path, device: Option<usize>, progress: Progress) -> Result<Trace> {
    let file = File::open(path).map_err(|error| Failure::new(error.to_string()));
    file.and_then(|file| {
        let bytes = file.metadata().map_or(0, |metadata| metadata.len());
        let bar = progress.bytes("reading", bytes);
        let trace = decode(BufReader::with_capacity(1 << 16, bar.reader(file)), device);
        bar.finish();
        trace
    })
    .map_err(|failure| failure.context(path.display()))
}

fn decode<R: BufRead>(mut source: R, device: Option<usize>) -> Result<Trace> {
    if peek(&mut source)?.starts_with(&[0x1f, 0x8b]) {
        parse(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(source)), device)
    } else {
        parse(source, device)
    }
}

fn parse<R: BufRead>(mut source: R, device: Option<usize>) -> Result<Trace> {
    match peek(&mut source)?.first() {
        None => Err(Failure::new("it is empty")),
        Some(0x80) => torch_snapshot::from_pickle(source, device),
        Some(b'{') => torch_snapshot::from_json(source, device),
        Some(_) => csv::read(source),
    }
}

/// The next bytes, without consuming them.
fn peek<R: BufRead + Read>(source: &mut R) -> Result<&[u8]> {
    source.fill_buf().map_err(|error| Failure::new(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_first_bytes_decide() {
        let list = b"a,0,100,0\nf,0,100,0\n";
        let json = br#"{"device_traces": [[{"action": "alloc", "addr": 1, "size": 2}]]}"#;
        for (bytes, events) in [(&list[..], 2), (json, 1)] {
            assert_eq!(decode(bytes, None).unwrap().events.len(), events);
            assert_eq!(decode(&gzip(bytes)[..], None).unwrap().events.len(), events);
        }
        assert!(decode(&b""[..], None).unwrap_err().to_string().contains("empty"));
    }

    #[test]
    fn a_gzip_file_cut_short_is_an_error() {
        let long: String = (0..5000).map(|i| format!("a,{i},{},0\n", i * 37)).collect();
        let bytes = gzip(long.as_bytes());
        assert_eq!(decode(&bytes[..], None).unwrap().events.len(), 5000);
        let words = decode(&bytes[..bytes.len() / 2], None).unwrap_err().to_string();
        assert!(words.starts_with("line "), "{words}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let words = read(Path::new("/nowhere/x.csv"), None, Progress::wanted(false)).unwrap_err();
        assert!(words.to_string().starts_with("/nowhere/x.csv: "), "{words}");
    }
}
