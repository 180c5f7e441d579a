//! What releases of cuDNN offer that does harm: found on GPUs, and avoided.

use sconce_base::element::Dtype;
use sconce_driver::{Convolution, ConvolutionOperation, EngineChoice};

/// The first release known to be free of the defect below.
const REPAIRED: usize = 91_900;

/// The choice, narrowed for the sake of a release.
///
/// Release 9.14 guesses an engine on tensor cores for gradients of F32 inputs of three dimensions that
/// executes an illegal instruction, after which the device answers nothing else (an H100: batch 1, 3
/// and 5 channels last, an input of 2 x 5 x 2, a filter of 1 x 1 x 2, strides 2, 3, 2, dilation 2).
/// Release 9.19 does not.
pub(super) fn narrowed(
    version: usize,
    problem: &Convolution,
    choice: EngineChoice,
) -> EngineChoice {
    let in_danger = version < REPAIRED
        && problem.element == Dtype::F32
        && problem.operation == ConvolutionOperation::Data
        && problem.spatial == 3;
    EngineChoice { allow_tf32: choice.allow_tf32 && !in_danger, ..choice }
}

#[cfg(test)]
mod tests {
    use sconce_driver::{ConvolutionTensor, MOST_SPATIAL};

    use super::*;

    #[test]
    fn only_what_was_found_to_do_harm_is_avoided() {
        let tensor = ConvolutionTensor { sizes: [1; 5], strides: [1; 5], alignment: 4 };
        let problem = |operation, element, spatial| Convolution {
            operation,
            element,
            spatial,
            groups: 1,
            input: tensor,
            filter: tensor,
            output: tensor,
            stride: [1; MOST_SPATIAL],
            padding: [0; MOST_SPATIAL],
            dilation: [1; MOST_SPATIAL],
        };
        let choice = EngineChoice { allow_tf32: true, deterministic: true };
        let (data, filter) = (ConvolutionOperation::Data, ConvolutionOperation::Filter);
        let harmful = problem(data, Dtype::F32, 3);
        assert_eq!(
            narrowed(91_400, &harmful, choice),
            EngineChoice { allow_tf32: false, ..choice }
        );
        for (version, problem) in [
            (91_900, harmful),
            (91_400, problem(data, Dtype::F16, 3)),
            (91_400, problem(data, Dtype::F32, 2)),
            (91_400, problem(filter, Dtype::F32, 3)),
        ] {
            assert_eq!(narrowed(version, &problem, choice), choice);
        }
    }
}
