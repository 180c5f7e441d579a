//! What a model's generated source says of its inputs and constants: the ABI of models has no function for shapes.
//!
//! PyTorch writes a function `check_input_N` for each input, which compares the type, sizes, strides and device. The
//! checks are off unless an environment variable is set before the first run, and print to standard error; so they are
//! read here. What is not understood is not checked.

use std::collections::HashMap;

/// The least size that the compiler assumes of every dynamic dimension, also of one that was exported with less.
const ASSUMED_LEAST: i64 = 2;

/// A size or a stride that an input must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// This one.
    Fixed(i64),
    /// One from here to there, both included.
    Range(i64, i64),
}

impl Extent {
    /// Whether a number is one of these. The least size that the compiler assumes is not required: PyTorch's loader
    /// runs models with a batch of one or none, too, and programs do that.
    pub fn allows(self, number: i64) -> bool {
        match self {
            Extent::Fixed(wanted) => number == wanted,
            Extent::Range(ASSUMED_LEAST, most) => (0..=most).contains(&number),
            Extent::Range(least, most) => (least..=most).contains(&number),
        }
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Extent::Fixed(number) => write!(text, "{number}"),
            Extent::Range(0 | 1, i64::MAX) => write!(text, "any"),
            Extent::Range(least, i64::MAX) => write!(text, "{least}.."),
            Extent::Range(least, most) => write!(text, "{least}..{most}"),
        }
    }
}

/// What an input must be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// PyTorch's name of the type.
    pub dtype: Option<String>,
    /// c10's kind of device.
    pub device_type: Option<i32>,
    /// The size of each dimension.
    pub sizes: Option<Vec<Extent>>,
    /// The strides that are checked, by dimension.
    pub strides: Vec<(usize, i64)>,
}

/// What each input must be, as far as the source says.
pub fn inputs(source: &str) -> Vec<Wanted> {
    let mut found: Vec<Wanted> = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find("static void check_input_") {
        let body = &rest[at..];
        // The next function begins with its own `static`.
        let end = body[1..].find("static ").map_or(body.len(), |end| end + 1);
        let (body, after) = body.split_at(end);
        rest = after;
        let digits = body["static void check_input_".len()..].chars();
        let number: String = digits.take_while(char::is_ascii_digit).collect();
        let Ok(index) = number.parse::<usize>() else { continue };
        if index > 1 << 16 {
            continue;
        }
        if found.len() <= index {
            found.resize(index + 1, Wanted::default());
        }
        found[index] = wanted(body);
    }
    found
}

/// Names of the constants that a model makes, in its order: those of the program that was compiled where the source has
/// them, else the model's own.
pub fn constants(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in source.split("constants_info_[").skip(1) {
        let Some((index, field)) = entry.split_once("].") else { continue };
        let (Ok(index), Some((field, value))) = (index.parse::<usize>(), field.split_once(" = "))
        else {
            continue;
        };
        if index > 1 << 20 {
            continue;
        }
        if found.len() <= index {
            found.resize(index + 1, (String::new(), false));
        }
        let (name, is_folded) = &mut found[index];
        let text = || value.split('"').nth(1).filter(|text| !text.is_empty()).map(str::to_owned);
        match field {
            "name" | "original_fqn" => *name = text().unwrap_or_else(|| std::mem::take(name)),
            "from_folded" => *is_folded = value.starts_with("true"),
            _ => {}
        }
    }
    found.into_iter().filter(|(_, is_folded)| !is_folded).map(|(name, _)| name).collect()
}

/// How many elements each constant has, by the model's own name of it.
pub fn elements_of_constants(source: &str) -> HashMap<String, usize> {
    let mut found = HashMap::new();
    let mut name = None;
    for entry in source.split("constants_info_[").skip(1) {
        let Some((index, field)) = entry.split_once("].") else { continue };
        let Some((field, value)) = field.split_once(" = ") else { continue };
        if field == "name" {
            name = value.split('"').nth(1).map(|text| (index, text.to_owned()));
        }
        let sizes = value.strip_prefix('{').and_then(|value| value.split_once('}'));
        let ("shape", Some((sizes, _)), Some((of, name))) = (field, sizes, &name) else { continue };
        let sizes = sizes.split(',').map(|size| size.trim().trim_end_matches('L'));
        let count = sizes.filter(|size| !size.is_empty()).try_fold(1_usize, |count, size| {
            size.parse().ok().and_then(|size| count.checked_mul(size))
        });
        if let (Some(count), true) = (count, *of == index) {
            found.insert(name.clone(), count);
        }
    }
    found
}

fn wanted(body: &str) -> Wanted {
    let mut wanted = Wanted::default();
    let mut sizes: Vec<Extent> = Vec::new();
    let set = |sizes: &mut Vec<Extent>, at: usize, change: &dyn Fn(Extent) -> Extent| {
        if at >= 64 {
            return;
        }
        if sizes.len() <= at {
            sizes.resize(at + 1, Extent::Range(0, i64::MAX));
        }
        sizes[at] = change(sizes[at]);
    };
    let mut rank_of_strides = 0;
    for line in body.lines().map(str::trim) {
        if let Some((_, dtype)) = line.split_once("_expected_dtype = aoti_torch_dtype_") {
            wanted.dtype = Some(dtype.trim_end_matches("();").to_owned());
        } else if let Some((_, kind)) = line.split_once("_expected_device_type = ") {
            wanted.device_type = kind.trim_end_matches(';').parse().ok();
        } else if let Some(condition) =
            line.strip_prefix("if (").and_then(|line| line.strip_suffix(") {"))
        {
            if let Some((number, at)) = compared(condition, "_stride[") {
                rank_of_strides = rank_of_strides.max(at + 1);
                if let Some(number) = number {
                    wanted.strides.push((at, number));
                }
            } else if let Some((Some(number), at)) = compared(condition, "_size[") {
                set(&mut sizes, at, &|_| Extent::Fixed(number));
            } else if let Some((at, least)) = bound(condition, " < ") {
                set(&mut sizes, at, &|now| match now {
                    Extent::Range(_, most) => Extent::Range(least, most),
                    fixed => fixed,
                });
            } else if let Some((at, most)) = bound(condition, " > ") {
                set(&mut sizes, at, &|now| match now {
                    Extent::Range(least, _) => Extent::Range(least, most),
                    fixed => fixed,
                });
            }
        }
    }
    if rank_of_strides > sizes.len() {
        sizes.resize(rank_of_strides, Extent::Range(0, i64::MAX));
    }
    // Without any dimension there is nothing that would tell a scalar from a shape that was not understood.
    wanted.sizes = (!sizes.is_empty()).then_some(sizes);
    wanted
}

/// The number and the dimension of `256 != arg0_1_size[1]`.
fn compared(condition: &str, what: &str) -> Option<(Option<i64>, usize)> {
    let (number, place) = condition.split_once(" != ")?;
    let at = place.split_once(what)?.1.strip_suffix(']')?.parse().ok()?;
    Some((number.trim_end_matches('L').parse().ok(), at))
}

/// The dimension and the number of `arg0_1_size[0] < 2`.
fn bound(condition: &str, sign: &str) -> Option<(usize, i64)> {
    let (place, number) = condition.split_once(sign)?;
    let at = place.split_once("_size[")?.1.strip_suffix(']')?.parse().ok()?;
    Some((at, number.trim_end_matches('L').parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_of_an_input_are_read() {
        let source = "AOTI_NOINLINE static void check_input_0(\n  AtenTensorHandle* h) {\n\
            int32_t arg6_1_expected_dtype = aoti_torch_dtype_float32();\n\
            if (arg6_1_size[0] < 2) {\n}\nif (arg6_1_size[0] > 64) {\n}\nif (256 != arg6_1_size[1]) {\n}\n\
            if (256 != arg6_1_stride[0]) {\n}\nif (1 != arg6_1_stride[1]) {\n}\n\
            int32_t arg6_1_expected_device_type = 1;\n}\n\
            AOTI_NOINLINE static void check_input_1(\n) {\n\
            int32_t a_expected_dtype = aoti_torch_dtype_int64();\nif (s0 != a_stride[1]) {\n}\n}\n\
            static bool other() {\nif (9 != b_size[4]) {\n}\n}";
        let read = inputs(source);
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].dtype.as_deref(), Some("float32"));
        assert_eq!(read[0].device_type, Some(1));
        assert_eq!(read[0].sizes, Some(vec![Extent::Range(2, 64), Extent::Fixed(256)]));
        let batch = read[0].sizes.as_ref().unwrap()[0];
        assert!([0, 1, 2, 64].into_iter().all(|size| batch.allows(size)) && !batch.allows(65));
        assert!(Extent::Range(3, 8).allows(3) && !Extent::Range(3, 8).allows(2));
        assert_eq!(read[0].strides, [(0, 256), (1, 1)]);
        assert_eq!(read[1].dtype.as_deref(), Some("int64"));
        assert_eq!(read[1].sizes, Some(vec![Extent::Range(0, i64::MAX); 2]));
        assert!(read[1].strides.is_empty());
        assert!(inputs("static void check_input_99999999(").is_empty());
        assert_eq!(read[0].sizes.as_ref().unwrap()[0].to_string(), "2..64");
    }

    #[test]
    fn constants_have_the_names_of_the_program() {
        let source = "    constants_info_[0].name = \"constant_0_bias\";\n\
            constants_info_[0].from_folded = false;\n constants_info_[0].original_fqn = \"0.bias\";\n\
            constants_info_[2].name = \"own\";\n constants_info_[2].original_fqn = \"\";\n\
            constants_info_[1].name = \"_FOLDED\";\n constants_info_[1].from_folded = true;\n\
            constants_info_[99999999].name = \"far\";\n constants_info_[i].name = \"x\";\n constants_info_[";
        assert_eq!(constants(source), ["0.bias", "own"]);
        assert!(constants("").is_empty());
    }

    #[test]
    fn constants_have_as_many_elements_as_their_shapes() {
        let source = "constants_info_[0].name = \"a\";\n constants_info_[0].data_size = 64;\n\
            constants_info_[0].shape = {2, 5L};\n constants_info_[0].stride = {5, 1};\n\
            constants_info_[1].name = \"number\";\n constants_info_[1].shape = {};\n\
            constants_info_[2].name = \"odd\";\n constants_info_[2].shape = {s0};\n\
            constants_info_[3].shape = {7};\n constants_info_[4].name = \"none\";\n\
            constants_info_[4].shape = {0, 3};\n constants_info_[5].name = \"far\";\n\
            constants_info_[5].shape = {4611686018427387904, 8};\n constants_info_[5].shape = {";
        let expected = [("a", 10), ("number", 1), ("none", 0)];
        let expected = expected.map(|(name, count)| (name.to_owned(), count));
        assert_eq!(elements_of_constants(source), HashMap::from(expected));
    }
}
