//! What a model's generated source says of its outputs: the ABI of models has names of outputs alone.
//!
//! PyTorch writes a run as one statement a line: arrays of sizes, tensors that are made with them, tensors that take
//! over the memory of others, and which of them each output is. What is not understood is not known.

use std::collections::HashMap;

use super::expressions::Expression;
use super::inputs::{Dimension, Extent, Inputs, Wanted};
use super::lines::{between, braced, parts_of_list, statements_of_run};

/// A tensor of the run.
#[derive(Clone, Default)]
struct Made {
    dtype: Option<String>,
    sizes: Option<Vec<Extent>>,
}

/// What has been read of a run.
struct ParsedRun<'a> {
    inputs: &'a Inputs,
    /// The numbers of symbols.
    symbols: HashMap<&'a str, usize>,
    arrays: HashMap<&'a str, Vec<Extent>>,
    tensors: HashMap<&'a str, Made>,
    outputs: Vec<Wanted>,
}

/// What each output is, as far as the source says. Symbols are what the inputs' sizes may be.
pub fn outputs(source: &str, inputs: &Inputs) -> Vec<Wanted> {
    let symbols = inputs.symbols.iter().enumerate();
    let mut run = ParsedRun {
        inputs,
        symbols: symbols.map(|(index, symbol)| (symbol.name.as_str(), index)).collect(),
        arrays: HashMap::new(),
        tensors: HashMap::new(),
        outputs: Vec::new(),
    };
    for statement in statements_of_run(source) {
        run.read(statement);
    }
    run.outputs
}

impl<'a> ParsedRun<'a> {
    fn read(&mut self, statement: &'a str) {
        // One that is not read makes nothing known, and forgets nothing.
        let _ = self
            .array(statement)
            .or_else(|| self.made(statement))
            .or_else(|| self.asserted(statement))
            .or_else(|| self.taken(statement))
            .or_else(|| self.output(statement));
    }

    /// `const int64_t int_array_0[] = {s77, 512L}`
    fn array(&mut self, statement: &'a str) -> Option<()> {
        let (name, values) = statement.split_once("[] = {")?;
        let name = name.rsplit(' ').next()?;
        let values = parts_of_list(values.strip_suffix('}')?);
        let extents = values.map(|value| self.extent(value)).collect();
        self.arrays.insert(name, extents);
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

    /// `assert_size_stride(buf8, {1L, s77}, {s77, 1L}, "torch.ops…", cached_torch_dtype_float32, "torch.float32")`, of
    /// what an operation returned (PyTorch 2.15)
    fn asserted(&mut self, statement: &'a str) -> Option<()> {
        let (name, lists) = statement.split_once("assert_size_stride(")?.1.split_once(", ")?;
        let (sizes, rest) = braced(lists)?;
        let (_, rest) = braced(rest.strip_prefix(", ")?)?;
        let dtype = between(rest, "cached_torch_dtype_", ",")?.to_owned();
        let sizes = parts_of_list(sizes).map(|size| self.extent(size)).collect();
        self.tensors.insert(name, Made { dtype: Some(dtype), sizes: Some(sizes) });
        Some(())
    }

    /// `auto buf8 = std::move(buf5)`, of a tensor or an input, and
    /// `auto var_3 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf61, 3, int_array_90, …))`
    fn taken(&mut self, statement: &'a str) -> Option<()> {
        let (name, value) = statement.strip_prefix("auto ")?.split_once(" = ")?;
        if let Some(other) = between(value, "std::move(", ")") {
            let made = match between(other, "inputs[", "]") {
                Some(index) => self.input(index.parse().ok()?),
                None => self.tensors.remove(other).unwrap_or_default(),
            };
            self.tensors.insert(name, made);
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
        // The same tensor once more.
        if let Some(first) = between(value, "output_handles[", "]") {
            self.outputs[index] = self.outputs.get(first.parse::<usize>().ok()?)?.clone();
            return Some(());
        }
        let made = value.strip_suffix(".release()").and_then(|name| self.tensors.get(name));
        let Made { dtype, sizes } = made.cloned().unwrap_or_default();
        let dimensions = sizes.map(|sizes| sizes.into_iter().map(Dimension::of).collect());
        self.outputs[index] = Wanted { dtype, device_type: None, dimensions };
        Some(())
    }

    /// An input, which an output may be.
    fn input(&self, index: usize) -> Made {
        let Some(wanted) = self.inputs.wanted.get(index) else { return Made::default() };
        let dimensions = wanted.dimensions.as_ref();
        let extents = |all: &Vec<Dimension>| all.iter().map(|one| one.extent).collect();
        Made { dtype: wanted.dtype.clone(), sizes: dimensions.map(extents) }
    }

    /// An array of sizes, if it has as many as a tensor has dimensions.
    fn sizes(&self, array: &str, rank: usize) -> Option<Vec<Extent>> {
        self.arrays.get(array).filter(|sizes| sizes.len() == rank).cloned()
    }

    fn extent(&self, size: &str) -> Extent {
        let size = Expression::parse(size, &|name| self.symbols.get(name).copied());
        size.map_or(Extent::ANY, |size| self.inputs.extent_of(&size))
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
    if (x()) { assert_size_stride(buf9, {s77}, {1L}, \"torch.ops.aten.sort.default\", cached_torch_dtype_int64, \"t\"); }
    output_handles[1] = buf1.release();
    output_handles[0] = buf4.release();
    output_handles[5] = output_handles[0];
    output_handles[6] = arg6_1.release();
    output_handles[7] = buf9.release();
    output_handles[2] = var_3.release();
    output_handles[4] = elsewhere.release();
    output_handles[99999999] = buf1.release();
}
    output_handles[8] = buf1.release();
";

    const CHECK: &str = "static void check_input_0(\n) {\n int32_t arg6_1_expected_dtype = aoti_torch_dtype_float32();\n\
        if (arg6_1_size[0] < 2) {\n}\nif (arg6_1_size[0] > 64) {\n}\nif (256 != arg6_1_size[1]) {\n}\n}\nstatic ";

    fn sizes(of: &Wanted) -> Option<Vec<Extent>> {
        let dimensions = of.dimensions.as_ref()?;
        Some(dimensions.iter().map(|dimension| dimension.extent).collect())
    }

    #[test]
    fn outputs_are_read_with_the_sizes_of_inputs() {
        let source = CHECK.to_owned() + SOURCE;
        let read = outputs(&source, &Inputs::read(&source, ""));
        assert_eq!(read.len(), 8);
        assert_eq!(read[0].dtype.as_deref(), Some("float32"));
        assert_eq!(sizes(&read[0]), Some(vec![Extent::Range(2, 64), Extent::Fixed(512)]));
        assert_eq!(read[1].dtype.as_deref(), Some("int64"));
        assert_eq!(sizes(&read[1]), Some(vec![Extent::Fixed(6)]));
        assert_eq!(read[2].dtype.as_deref(), Some("float32"));
        let whole = vec![Extent::Range(4, 128), Extent::Fixed(3), Extent::Fixed(256)];
        assert_eq!(sizes(&read[2]), Some(whole));
        assert_eq!((&read[3], &read[4]), (&Wanted::default(), &Wanted::default()));
        // The same tensor once more, an input, and the result of an operation.
        assert_eq!(read[5], read[0]);
        assert_eq!(sizes(&read[6]), Some(vec![Extent::Range(2, 64), Extent::Fixed(256)]));
        assert_eq!(read[7].dtype.as_deref(), Some("int64"));
        assert_eq!(sizes(&read[7]), Some(vec![Extent::Range(2, 64)]));
    }

    #[test]
    fn what_is_not_understood_is_not_known() {
        let without = outputs(SOURCE, &Inputs::default());
        assert_eq!(sizes(&without[0]), Some(vec![Extent::ANY, Extent::Fixed(512)]));
        let odd = "::run_impl() {\noutput_handles[x] = y.release();";
        assert!(outputs(odd, &Inputs::default()).is_empty());
        // An array of another length than the tensor has dimensions.
        let source = SOURCE.replace("empty_strided(1, int_array_2", "empty_strided(2, int_array_2");
        assert_eq!(sizes(&outputs(&source, &Inputs::default())[1]), None);
    }
}
