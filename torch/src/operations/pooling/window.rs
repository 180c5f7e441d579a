//! Which inputs an output of pooling is made of, along one dimension.

use crate::error::{Error, Result};

/// One dimension of pooling. The numbers are in `torch/kernels/pooling.cu`, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct PoolingAxis {
    /// Inputs.
    pub(super) input: i32,
    /// Outputs.
    pub(super) output: i32,
    /// Inputs of a window; not used by adaptive windows.
    pub(super) kernel: i32,
    /// Inputs from one window to the next.
    pub(super) stride: i32,
    /// Places before the first input, and behind the last one.
    pub(super) padding: i32,
    /// Inputs from one of a window to the next.
    pub(super) dilation: i32,
}

/// The inputs of a window, or the outputs whose windows may have an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowSpan {
    /// The first.
    pub(super) begin: i64,
    /// Behind the last.
    pub(super) end: i64,
    /// From one to the next.
    pub(super) step: i64,
}

impl WindowSpan {
    /// The numbers of the span.
    pub(super) fn iter(self) -> impl Iterator<Item = i64> {
        (self.begin..self.end).step_by(self.step as usize)
    }
}

fn narrowed(value: i64, name: &str) -> Result<i32> {
    i32::try_from(value).map_err(|_| Error::not_supported(format!("{name} of {value} in pooling")))
}

impl PoolingAxis {
    /// Windows of one size.
    pub(super) fn new(
        input: i64,
        [kernel, stride, padding, dilation]: [i64; 4],
        ceil_mode: bool,
    ) -> Result<PoolingAxis> {
        let refuse = |text: String| Err(Error::invalid_argument(text));
        if kernel <= 0 || dilation <= 0 {
            return refuse(format!(
                "kernel size and dilation should be greater than zero, but got kernel size: {kernel} and dilation: \
                 {dilation}"
            ));
        }
        if stride <= 0 {
            return refuse(format!("stride should be greater than zero, but got {stride}"));
        }
        if padding < 0 {
            return refuse(format!("pad must be non-negative, but got pad: {padding}"));
        }
        let span = dilation.saturating_mul(kernel - 1).saturating_add(1);
        if padding > span / 2 {
            return refuse(format!(
                "pad should be at most half of effective kernel size, but got pad={padding}, kernel_size={kernel} \
                 and dilation={dilation}"
            ));
        }
        let narrow = PoolingAxis {
            input: narrowed(input, "a size")?,
            output: 0,
            kernel: narrowed(kernel, "a kernel size")?,
            stride: narrowed(stride, "a stride")?,
            padding: narrowed(padding, "a padding")?,
            dilation: narrowed(dilation, "a dilation")?,
        };
        let reach = input + 2 * padding - span + if ceil_mode { stride - 1 } else { 0 };
        let mut output = reach.div_euclid(stride) + 1;
        // The last window has to begin within the input or its padding in front.
        if ceil_mode && (output - 1) * stride >= input + padding {
            output -= 1;
        }
        if output < 1 {
            return refuse(format!(
                "given an input size of {input}, the calculated output size is {output}: Output size is too small"
            ));
        }
        Ok(PoolingAxis { output: narrowed(output, "a size")?, ..narrow })
    }

    /// Windows that share the inputs as evenly as whole numbers can; they may overlap.
    pub(super) fn adaptive(input: i64, output: i64) -> Result<PoolingAxis> {
        if output < 0 {
            return Err(Error::invalid_argument(format!(
                "elements of output_size must be greater than or equal to 0, but one is {output}"
            )));
        }
        let (input, output) = (narrowed(input, "a size")?, narrowed(output, "a size")?);
        Ok(PoolingAxis { input, output, kernel: 0, stride: 1, padding: 0, dilation: 1 })
    }

    /// Whether windows are adaptive.
    pub(super) fn is_adaptive(&self) -> bool {
        self.kernel == 0
    }

    /// The inputs of an output's window that exist.
    pub(super) fn window(&self, output: i64) -> WindowSpan {
        let (inputs, outputs) = (i64::from(self.input), i64::from(self.output));
        if self.is_adaptive() {
            let end = ((output + 1) * inputs + outputs - 1) / outputs;
            return WindowSpan { begin: output * inputs / outputs, end, step: 1 };
        }
        let step = i64::from(self.dilation);
        let first = output * i64::from(self.stride) - i64::from(self.padding);
        let end = (first + i64::from(self.kernel - 1) * step + 1).min(inputs);
        let skipped = if first < 0 { (-first + step - 1) / step } else { 0 };
        WindowSpan { begin: first + skipped * step, end, step }
    }

    /// How many places the window has for an average that counts padding.
    pub(super) fn places(&self, output: i64) -> i64 {
        if self.is_adaptive() {
            let window = self.window(output);
            return window.end - window.begin;
        }
        let first = output * i64::from(self.stride) - i64::from(self.padding);
        (first + i64::from(self.kernel)).min(i64::from(self.input + self.padding)) - first
    }

    /// Outputs that include all whose windows have an input.
    pub(super) fn outputs_of(&self, input: i64) -> WindowSpan {
        let (inputs, outputs) = (i64::from(self.input), i64::from(self.output));
        if self.is_adaptive() {
            let end = ((input + 1) * outputs + inputs - 1) / inputs;
            return WindowSpan { begin: input * outputs / inputs, end, step: 1 };
        }
        let stride = i64::from(self.stride);
        let at = input + i64::from(self.padding);
        let before = at - i64::from(self.kernel - 1) * i64::from(self.dilation);
        let begin = if before > 0 { (before + stride - 1) / stride } else { 0 };
        WindowSpan { begin, end: (at / stride + 1).min(outputs), step: 1 }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::operations::testing::Random;

    fn axes() -> Vec<PoolingAxis> {
        let mut random = Random(3);
        let mut axes = Vec::new();
        while axes.len() < 300 {
            let kernel = random.size(1, 5);
            let numbers =
                [kernel, random.size(1, 4), random.size(0, kernel / 2), random.size(1, 3)];
            axes.extend(PoolingAxis::new(random.size(1, 12), numbers, random.below(2) == 0));
        }
        for input in 1..9 {
            axes.extend((1..12).map(|output| PoolingAxis::adaptive(input, output).unwrap()));
        }
        axes
    }

    #[test]
    fn numbers_that_overflow_are_refused_in_words() {
        let huge = [1, 2, i64::from(i32::MAX), 1 << 62, i64::MAX / 2, i64::MAX - 1, i64::MAX];
        for kernel in huge {
            for stride in huge {
                for padding in huge.map(|number| number - 1) {
                    for dilation in huge {
                        for (input, ceil_mode) in [(9, false), (9, true), (i64::MAX, true)] {
                            let numbers = [kernel, stride, padding, dilation];
                            let made = PoolingAxis::new(input, numbers, ceil_mode);
                            let is_small = numbers.iter().all(|it| *it <= i64::from(i32::MAX));
                            assert!(made.is_err() || (is_small && input == 9), "{numbers:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn windows_and_the_outputs_of_inputs_agree() {
        for axis in axes() {
            for input in 0..i64::from(axis.input) {
                let outputs = axis.outputs_of(input);
                for output in 0..i64::from(axis.output) {
                    let has = axis.window(output).iter().any(|at| at == input);
                    let among = outputs.iter().any(|at| at == output);
                    // Dilated windows skip inputs that their outputs' span has.
                    assert!(!has || among, "{axis:?}: {input} in {output}");
                    assert!(
                        has || !among || axis.dilation > 1,
                        "{axis:?}: {input} not in {output}"
                    );
                }
            }
        }
    }

    #[test]
    fn windows_lie_within_the_input_and_have_no_more_than_their_places() {
        for axis in axes() {
            for output in 0..i64::from(axis.output) {
                let inputs: Vec<i64> = axis.window(output).iter().collect();
                assert!(inputs.iter().all(|&at| at >= 0 && at < i64::from(axis.input)), "{axis:?}");
                assert!(
                    axis.dilation > 1 || inputs.len() as i64 <= axis.places(output),
                    "{axis:?}"
                );
            }
        }
    }

    #[test]
    fn sizes_are_those_of_pytorch() {
        let output =
            |input, numbers, ceil| PoolingAxis::new(input, numbers, ceil).map(|axis| axis.output);
        assert_eq!(output(7, [3, 2, 0, 1], false).unwrap(), 3);
        assert_eq!(output(8, [3, 2, 0, 1], false).unwrap(), 3);
        assert_eq!(output(8, [3, 2, 0, 1], true).unwrap(), 4);
        assert_eq!(output(1, [1, 2, 0, 1], true).unwrap(), 1);
        // A window that would begin in the padding behind the input is left out.
        assert_eq!(output(5, [2, 3, 1, 1], true).unwrap(), 2);
        let words = |input, numbers| PoolingAxis::new(input, numbers, false).unwrap_err().message;
        assert!(words(3, [5, 1, 0, 1]).contains("Output size is too small"));
        assert!(words(9, [3, 1, 2, 1]).contains("at most half of effective kernel size"));
        assert!(words(9, [3, 0, 0, 1]).contains("stride should be greater than zero"));
        assert!(words(9, [0, 1, 0, 1]).contains("kernel size and dilation"));
        assert!(words(9, [2, 1, -1, 1]).contains("non-negative"));
    }
}
