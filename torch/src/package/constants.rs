//! What a model's generated source says of its constants: `constants_info_[0].shape = {5, 4};` and so on.

use std::collections::HashMap;

/// How a constant lies in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConstantLayout {
    /// Its sizes.
    pub sizes: Option<Vec<i64>>,
    /// Its strides, unless it is packed.
    pub strides: Option<Vec<i64>>,
    /// Whether it lies in the CPU's memory, also in a model of CUDA.
    pub is_of_cpu: bool,
}

/// The fields of constants in the order of the source: the constant's number, the field and its value.
fn fields(source: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    source.split("constants_info_[").skip(1).filter_map(|entry| {
        let (index, field) = entry.split_once("].")?;
        let (field, value) = field.split_once(" = ")?;
        Some((index.parse().ok()?, field, value))
    })
}

/// Names of the constants that a model makes, in its order: those of the program that was compiled where the source has
/// them, else the model's own.
pub fn constants(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, field, value) in fields(source) {
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

/// How each constant lies in memory, by the model's own name of it.
pub fn layouts_of_constants(source: &str) -> HashMap<String, ConstantLayout> {
    let mut found: HashMap<String, ConstantLayout> = HashMap::new();
    let mut newest: Option<(usize, String)> = None;
    for (index, field, value) in fields(source) {
        if field == "name" {
            newest = value.split('"').nth(1).map(|name| (index, name.to_owned()));
        }
        let Some((_, name)) = newest.as_ref().filter(|(of, _)| *of == index) else { continue };
        let layout = found.entry(name.clone()).or_default();
        match field {
            "shape" => layout.sizes = numbers(value),
            "stride" => layout.strides = numbers(value),
            "device_type" => layout.is_of_cpu = value.starts_with("cached_torch_device_type_cpu;"),
            "layout" if !value.contains("layout_strided") => layout.strides = None,
            _ => {}
        }
    }
    found
}

/// `{5, 4L}`
fn numbers(value: &str) -> Option<Vec<i64>> {
    let (numbers, _) = value.strip_prefix('{')?.split_once('}')?;
    let numbers = numbers.split(',').map(str::trim).filter(|number| !number.is_empty());
    numbers.map(|number| number.trim_end_matches('L').parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn constants_lie_as_the_source_says() {
        let source = "constants_info_[0].name = \"a\";\n constants_info_[0].data_size = 64;\n\
            constants_info_[0].device_type = cached_torch_device_type_cpu;\n\
            constants_info_[0].shape = {2, 5L};\n constants_info_[0].stride = {1, 2};\n\
            constants_info_[0].layout = static_cast<int32_t>(cached_torch_layout_strided);\n\
            constants_info_[1].name = \"number\";\n constants_info_[1].shape = {};\n\
            constants_info_[1].device_type = cached_torch_device_type_cuda;\n\
            constants_info_[2].name = \"odd\";\n constants_info_[2].shape = {s0};\n\
            constants_info_[3].shape = {7};\n constants_info_[4].name = \"packed\";\n\
            constants_info_[4].shape = {0, 3};\n constants_info_[4].stride = {0, 0};\n\
            constants_info_[4].layout = static_cast<int32_t>(cached_torch_layout_mkldnn);\n\
            constants_info_[5].name = \"cut\";\n constants_info_[5].shape = {";
        let layout = |sizes: Option<&[i64]>, strides: Option<&[i64]>, is_of_cpu| ConstantLayout {
            sizes: sizes.map(<[i64]>::to_vec),
            strides: strides.map(<[i64]>::to_vec),
            is_of_cpu,
        };
        let expected = [
            ("a", layout(Some(&[2, 5]), Some(&[1, 2]), true)),
            ("number", layout(Some(&[]), None, false)),
            ("odd", layout(None, None, false)),
            ("packed", layout(Some(&[0, 3]), None, false)),
            ("cut", layout(None, None, false)),
        ];
        let expected = expected.map(|(name, layout)| (name.to_owned(), layout));
        assert_eq!(layouts_of_constants(source), HashMap::from(expected));
    }
}
