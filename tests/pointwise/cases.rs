//! Calls on both sides: operands with elements that are worth a test, in any layout.

use sconce_base::element::Dtype;
use sconce_compute::pointwise::{
    ElementOperation, PointwiseCall, PointwiseInput, PointwiseOperand, Scalar, on_host, queue,
};

use testkit::twin::{Twin, runtime, stream};

/// The types that operations take.
pub(crate) const TYPES: [Dtype; 21] = {
    let mut types = [Dtype::F32; 21];
    let mut index = 0;
    while index < types.len() {
        types[index] = Dtype::ALL[index];
        index += 1;
    }
    types
};

/// Bytes before an operand's first element, so that strides may be negative.
const BEFORE: usize = 4096;

/// An operand of a case: a type, strides in elements, and how far its elements reach.
pub(crate) struct Side {
    pub(crate) dtype: Dtype,
    pub(crate) strides: Vec<i64>,
    pub(crate) twin: Twin,
}

impl Side {
    /// Elements of a type for some sizes, from a generator of random numbers.
    pub(crate) fn new(dtype: Dtype, sizes: &[i64], strides: &[i64], seed: u64) -> Side {
        let reach: i64 = sizes.iter().zip(strides).map(|(n, s)| (n - 1).max(0) * s.abs()).sum();
        let elements = reach as usize + 1 + 2 * BEFORE / dtype.bytes();
        let twin = Twin::new(values(dtype, elements, seed));
        Side { dtype, strides: strides.to_vec(), twin }
    }

    fn at(&mut self, on_device: bool) -> PointwiseOperand<'_> {
        let low = if on_device { self.twin.device() } else { self.twin.host() };
        PointwiseOperand { address: low.offset(BEFORE), dtype: self.dtype, strides: &self.strides }
    }
}

/// A stream of random words.
pub(crate) struct Words(pub(crate) u64);

impl Words {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Small numbers, a few large ones, zeros, infinities and NaNs.
fn values(dtype: Dtype, elements: usize, seed: u64) -> Vec<u8> {
    let mut words = Words(seed);
    let (real, parts) = dtype.real();
    let mut bytes = Vec::new();
    for _ in 0..elements * parts as usize {
        let word = words.next();
        let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, -1.0, 2.0];
        let number = match word % 16 {
            0 => special[(word >> 8) as usize % special.len()],
            1 => ((word >> 8) as i32) as f64,
            2..8 => (word >> 8) as i8 as f64,
            _ => ((word >> 8) as i32) as f64 / (1_u64 << 28) as f64,
        };
        match real {
            Dtype::F64 => bytes.extend(number.to_le_bytes()),
            Dtype::F32 => bytes.extend((number as f32).to_le_bytes()),
            Dtype::F16 => {
                bytes.extend(sconce_base::element::f16_bits(number as f32).to_le_bytes());
            }
            Dtype::Bf16 => {
                bytes.extend(sconce_base::element::bf16_bits(number as f32).to_le_bytes())
            }
            Dtype::Bool => bytes.push((word >> 8) as u8 & 1),
            narrow if narrow.is_floating() => bytes.push((word >> 8) as u8),
            integer => {
                let wide = if word % 16 < 2 { word as i64 } else { number as i64 };
                bytes.extend(&wide.to_le_bytes()[..integer.bytes()]);
            }
        }
    }
    bytes
}

/// What is computed from which operands.
pub(crate) struct Case {
    pub(crate) op: ElementOperation,
    pub(crate) compute: Dtype,
    pub(crate) sizes: Vec<i64>,
    pub(crate) output: Side,
    pub(crate) inputs: Vec<Result<Side, Scalar>>,
    pub(crate) parameters: [Scalar; 2],
}

impl Case {
    fn run(&mut self, on_device: bool) -> sconce_base::error::Result<()> {
        let inputs: Vec<PointwiseInput<'_>> = self
            .inputs
            .iter_mut()
            .map(|input| match input {
                Ok(side) => PointwiseInput::Elements(side.at(on_device)),
                Err(scalar) => PointwiseInput::Scalar(*scalar),
            })
            .collect();
        let call = PointwiseCall {
            op: self.op,
            compute: self.compute,
            sizes: &self.sizes,
            output: self.output.at(on_device),
            inputs: &inputs,
            parameters: self.parameters,
        };
        if on_device { queue(runtime(), stream().driver_ref(), &call) } else { on_host(&call) }
    }

    /// What lies in the output's memory after the operation on the host and on the device; `None` if both
    /// refuse it.
    pub(crate) fn results(&mut self) -> Option<[Vec<u8>; 2]> {
        let refused = self.run(true).err().map(|error| error.message().to_owned());
        let also = self.run(false).err().map(|error| error.message().to_owned());
        assert_eq!(refused, also, "{}", self.describe());
        if refused.is_some() {
            return None;
        }
        let device = self.output.twin.read(stream());
        Some([std::hint::black_box(&mut self.output.twin.host).clone(), device])
    }

    /// The bytes of the elements that the operation writes, of an output without gaps.
    pub(crate) fn written(&self) -> std::ops::Range<usize> {
        assert_eq!(self.output.strides, [1], "{}", self.describe());
        BEFORE..BEFORE + self.sizes[0] as usize * self.output.dtype.bytes()
    }

    /// The real numbers that the host calculates, before they are converted to the type of the output. Doubles have
    /// the numbers of all types that operations round.
    pub(crate) fn unconverted(&mut self) -> Vec<f64> {
        let doubles = Side::new(Dtype::F64, &self.sizes, &self.output.strides, 0);
        let output = std::mem::replace(&mut self.output, doubles);
        self.run(false).unwrap();
        let bytes = self.written();
        let elements = &std::hint::black_box(&mut self.output.twin.host)[bytes];
        let double = |element: &[u8]| f64::from_le_bytes(element.try_into().unwrap());
        let values = elements.chunks(8).map(double).collect();
        self.output = output;
        values
    }

    pub(crate) fn describe(&self) -> String {
        let inputs = self.inputs.iter().map(|input| match input {
            Ok(side) => format!("{:?} {:?}", side.dtype, side.strides),
            Err(scalar) => format!("{scalar:?}"),
        });
        format!(
            "{:?} in {:?} over {:?}: {:?} {:?} from {}",
            self.op,
            self.compute,
            self.sizes,
            self.output.dtype,
            self.output.strides,
            inputs.collect::<Vec<_>>().join(", ")
        )
    }
}
