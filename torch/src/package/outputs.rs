//! What a model's generated source says of its outputs: the ABI of models has names of outputs alone.
//!
//! PyTorch writes a run as one statement a line: arrays of sizes, tensors that are made with them, tensors that take
//! over the memory of others, and which of them each output is. What is not understood is not known.

use std::collections::HashMap;

use super::source::{Extent, Wanted};

/// A tensor of the run.
#[derive(Clone, Default)]
struct Made {
    dtype: Option<String>,
    sizes: Option<Vec<Extent>>,
}

/// What has been read of a run.
struct ParsedRun<'a> {
    inputs: &'a [Wanted],
    /// Which input a variable is.
    arguments: HashMap<&'a str, usize>,
    /// What a symbol may be.
    symbols: HashMap<&'a str, Extent>,
    arrays: HashMap<&'a str, Vec<Extent>>,
    tensors: HashMap<&'a str, Made>,
    outputs: Vec<Wanted>,
}

/// What each output is, as far as the source says. Symbols are what the inputs' sizes may be.
pub fn outputs(source: &str, inputs: &[Wanted]) -> Vec<Wanted> {
    let mut run = ParsedRun {
        inputs,
        arguments: HashMap::new(),
        symbols: HashMap::new(),
        arrays: HashMap::new(),
        tensors: HashMap::new(),
        outputs: Vec::new(),
    };
    // Not what works out constants, which has outputs of its own.
    let body = source.split_once("::run_impl(").map_or("", |(_, body)| body);
    let body = body.split_once("\n}").map_or(body, |(body, _)| body);
    for line in body.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if let Some(statement) = line.strip_suffix(';') {
            run.read(statement);
        }
    }
    run.outputs
}

/// The text between two others.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    text.split_once(begin)?.1.split_once(end).map(|(inner, _)| inner)
}

impl<'a> ParsedRun<'a> {
    fn read(&mut self, statement: &'a str) {
        // One that is not read makes nothing known, and forgets nothing.
        let _ = self
            .array(statement)
            .or_else(|| self.symbol(statement))
            .or_else(|| self.made(statement))
            .or_else(|| self.taken(statement))
            .or_else(|| self.output(statement));
    }

    /// `const int64_t int_array_0[] = {s77, 512L}`
    fn array(&mut self, statement: &'a str) -> Option<()> {
        let (name, values) = statement.split_once("[] = {")?;
        let name = name.rsplit(' ').next()?;
        let values = values.strip_suffix('}')?.split(',').map(str::trim);
        let extents = values.filter(|value| !value.is_empty()).map(|value| self.extent(value));
        let extents = extents.collect();
        self.arrays.insert(name, extents);
        Some(())
    }

    /// `int64_t s77 = arg6_1_size[0]`
    fn symbol(&mut self, statement: &'a str) -> Option<()> {
        let (name, place) = statement.strip_prefix("int64_t ")?.split_once(" = ")?;
        let (argument, at) = place.strip_suffix(']')?.split_once("_size[")?;
        let sizes = self.inputs.get(*self.arguments.get(argument)?)?.sizes.as_ref()?;
        let extent = *sizes.get(at.parse::<usize>().ok()?)?;
        self.symbols.insert(name, extent);
        Some(())
    }

    /// `aoti_torch_empty_strided(2, int_array_0, int_array_1, cached_torch_dtype_float32, …, &buf0_handle)`
    fn made(&mut self, statement: &'a str) -> Option<()> {
        let arguments = statement.split_once("aoti_torch_empty_strided")?.1.split_once('(')?.1;
        let name = between(arguments, "&", "_handle)")?;
        let rank = arguments.split(',').next()?.parse().ok()?;
        let sizes = self.sizes(arguments.split(',').nth(1)?.trim(), rank);
        let dtype = between(arguments, "cached_torch_dtype_", ",").map(str::to_owned);
        self.tensors.insert(name, Made { dtype, sizes });
        Some(())
    }

    /// `auto buf8 = std::move(buf5)`, of a tensor or an input, and
    /// `auto var_3 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf61, 3, int_array_90, …))`
    fn taken(&mut self, statement: &'a str) -> Option<()> {
        let (name, value) = statement.strip_prefix("auto ")?.split_once(" = ")?;
        if let Some(other) = between(value, "std::move(", ")") {
            if let Some(index) = between(other, "inputs[", "]") {
                self.arguments.insert(name, index.parse().ok()?);
            } else {
                let made = self.tensors.remove(other).unwrap_or_default();
                self.tensors.insert(name, made);
            }
            return Some(());
        }
        let arguments = between(value, "reinterpret_tensor_wrapper(", ")")?;
        let mut arguments = arguments.split(',').map(str::trim);
        let dtype = self.tensors.get(arguments.next()?).and_then(|of| of.dtype.clone());
        let rank = arguments.next()?.parse().ok()?;
        let sizes = self.sizes(arguments.next()?, rank);
        self.tensors.insert(name, Made { dtype, sizes });
        Some(())
    }

    /// `output_handles[0] = buf9.release()`
    fn output(&mut self, statement: &'a str) -> Option<()> {
        let (index, value) = statement.strip_prefix("output_handles[")?.split_once("] = ")?;
        let index: usize = index.parse().ok()?;
        if index > 1 << 16 {
            return None;
        }
        if self.outputs.len() <= index {
            self.outputs.resize(index + 1, Wanted::default());
        }
        let made = value.strip_suffix(".release()").and_then(|name| self.tensors.get(name));
        let Made { dtype, sizes } = made.cloned().unwrap_or_default();
        self.outputs[index] = Wanted { dtype, sizes, ..Wanted::default() };
        Some(())
    }

    /// An array of sizes, if it has as many as a tensor has dimensions.
    fn sizes(&self, array: &str, rank: usize) -> Option<Vec<Extent>> {
        self.arrays.get(array).filter(|sizes| sizes.len() == rank).cloned()
    }

    fn extent(&self, size: &str) -> Extent {
        match size.trim_end_matches('L').parse() {
            Ok(number) => Extent::Fixed(number),
            Err(_) => self.symbols.get(size).copied().unwrap_or(Extent::Range(0, i64::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "
    output_handles[7] = folded.release();
void AOTInductorModel::run_impl(AtenTensorHandle* input_handles) {
    auto arg6_1 = std::move(inputs[0]);
    int64_t s77 = arg6_1_size[0];
    const int64_t int_array_0[] = {s77, 512L};
    static constexpr int64_t int_array_1[] = {512L, 1L};
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_0, int_array_1, cached_torch_dtype_float32, \
                          cached_torch_device_type_cpu, this->device_idx_, &buf0_handle));
    auto buf4 = std::move(buf0);  // reuse
    static constexpr int64_t int_array_2[] = {6L, };
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(1, int_array_2, int_array_3, cached_torch_dtype_int64, \
                          cached_torch_device_type_cpu, this->device_idx_, &buf1_handle));
    const int64_t int_array_4[] = {2L*s77, 3L, 256L};
    auto var_3 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf4, 3, int_array_4, int_array_5, 0L));
    output_handles[1] = buf1.release();
    output_handles[0] = buf4.release();
    output_handles[2] = var_3.release();
    output_handles[4] = elsewhere.release();
    output_handles[99999999] = buf1.release();
}
    output_handles[8] = buf1.release();
";

    #[test]
    fn outputs_are_read_with_the_sizes_of_inputs() {
        let input = Wanted {
            sizes: Some(vec![Extent::Range(2, 64), Extent::Fixed(256)]),
            ..Wanted::default()
        };
        let read = outputs(SOURCE, &[input]);
        assert_eq!(read.len(), 5);
        assert_eq!(read[0].dtype.as_deref(), Some("float32"));
        assert_eq!(read[0].sizes, Some(vec![Extent::Range(2, 64), Extent::Fixed(512)]));
        assert_eq!(read[1].dtype.as_deref(), Some("int64"));
        assert_eq!(read[1].sizes, Some(vec![Extent::Fixed(6)]));
        assert_eq!(read[2].dtype.as_deref(), Some("float32"));
        let any = Extent::Range(0, i64::MAX);
        assert_eq!(read[2].sizes, Some(vec![any, Extent::Fixed(3), Extent::Fixed(256)]));
        assert_eq!((&read[3], &read[4]), (&Wanted::default(), &Wanted::default()));
    }

    #[test]
    fn what_is_not_understood_is_not_known() {
        let without = outputs(SOURCE, &[]);
        let any = Extent::Range(0, i64::MAX);
        assert_eq!(without[0].sizes, Some(vec![any, Extent::Fixed(512)]));
        assert!(outputs("::run_impl() {\noutput_handles[x] = y.release();", &[]).is_empty());
        // An array of another length than the tensor has dimensions.
        let source = SOURCE.replace("empty_strided(1, int_array_2", "empty_strided(2, int_array_2");
        assert_eq!(outputs(&source, &[])[1].sizes, None);
    }
}
