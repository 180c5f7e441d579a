//! Weights that a package keeps beside the model's library.
//!
//! | option of the compiler | where they are |
//! |---|---|
//! | `package_constants_on_disk_format="binary_blob"` | `…_weights.blob` beside the library, in the model's own order |
//! | `package_constants_on_disk_format="pickle_weights"` | `data/weights/`, a file of `torch.save` for each storage, and `weights_config.json` with names, sizes, strides and offsets |
//! | `package_constants_in_so=False` alone | nowhere: the program passes them |

use std::io::{Cursor, Read};

use serde_json::Value;
use zip::ZipArchive;

use super::json;
use crate::error::{Error, Result};

/// A weight: where it lies in the memory of its storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weight {
    /// Its name in the program that was compiled.
    pub name: String,
    /// The file of its storage in `data/weights/`.
    pub file: String,
    /// Its sizes.
    pub sizes: Vec<i64>,
    /// Its strides, in elements.
    pub strides: Vec<i64>,
    /// Where it begins, in elements.
    pub offset: i64,
}

/// The weights of `weights_config.json`: `{name: [file, sizes, strides, offset]}`.
pub fn weights(config: &str) -> Result<Vec<Weight>> {
    let Value::Object(members) = json::parse(config)? else {
        return Err(Error::io("weights_config.json is no object"));
    };
    let weight = |(name, entry): (String, Value)| {
        let read = || {
            let [file, sizes, strides, offset] = entry.as_array()?.as_slice() else { return None };
            Some(Weight {
                name: name.clone(),
                file: file.as_str()?.to_owned(),
                sizes: json::ints(sizes)?,
                strides: json::ints(strides)?,
                offset: offset.as_i64()?,
            })
        };
        read().ok_or_else(|| {
            Error::io(format!(
                "weights_config.json: the entry {name:?} is not a file, sizes, strides and an offset"
            ))
        })
    };
    members.into_iter().map(weight).collect()
}

/// The bytes of the only storage in a file of `torch.save`, which is a zip.
pub fn storage(file: &[u8]) -> Result<Vec<u8>> {
    let broken =
        |why: &dyn std::fmt::Display| Error::io(format!("the weights could not be read: {why}"));
    let mut archive = ZipArchive::new(Cursor::new(file)).map_err(|why| broken(&why))?;
    let mut found = None;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|why| broken(&why))?;
        let name = entry.name().map_err(|why| broken(&why))?.into_owned();
        let Some((_, inside)) = name.split_once('/') else { continue };
        let mut read = |limit: u64| {
            let mut bytes = Vec::new();
            entry.by_ref().take(limit).read_to_end(&mut bytes).map_err(|why| broken(&why))?;
            Ok::<_, Error>(bytes)
        };
        if inside == "byteorder" {
            if read(16)? != b"little" {
                return Err(broken(&"its bytes are in another order than this processor's"));
            }
        } else if inside.strip_prefix("data/").is_some_and(|rest| !rest.contains('/')) {
            if found.is_some() {
                return Err(broken(&"it has several storages"));
            }
            found = Some(read(u64::MAX)?);
        }
    }
    found.ok_or_else(|| broken(&"it has no storage"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_and_others_refused() {
        let read = weights(r#"{"a.b": ["weight_0", [2, 3], [3, 1], 4]}"#).unwrap();
        let (sizes, strides) = (vec![2, 3], vec![3, 1]);
        let (name, file) = ("a.b".to_owned(), "weight_0".to_owned());
        assert_eq!(read, [Weight { name, file, sizes, strides, offset: 4 }]);
        for (text, words) in [
            ("[]", "no object"),
            ("{", "not understood"),
            (r#"{"a": ["weight_0", [2], [1]]}"#, "the entry \"a\""),
            (r#"{"a": ["weight_0", [2.5], [1], 0]}"#, "the entry \"a\""),
            (r#"{"a": [1, [2], [1], 0]}"#, "the entry \"a\""),
        ] {
            assert!(weights(text).unwrap_err().message.contains(words), "{text}");
        }
    }
}
