//! The arguments of a call, by their places in the schema.

use crate::abi::constants::{dtype_of, memory_format_of, named_device_of};
use crate::error::{Error, Result};
use crate::registry::value::Value;
use crate::sconce::generator::Generator;
use crate::sconce::operations::Operand;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{complex, integer, options, real, truth};
use crate::sconce::{Tensor, api};

/// Arguments whose types were checked against the schema.
#[derive(Debug)]
pub struct Arguments(pub Vec<Value>);

impl Arguments {
    fn at(&self, at: usize) -> Result<&Value> {
        self.0.get(at).ok_or_else(|| Error::internal(format!("there is no argument {at}")))
    }

    fn other(&self, at: usize) -> Error {
        Error::internal(format!("argument {at} is {:?}", self.0.get(at)))
    }

    /// A tensor, which the arguments go on owning.
    pub fn tensor(&self, at: usize) -> Result<TensorHandle> {
        match self.at(at)? {
            Value::Tensor(tensor) => Ok(tensor.handle()),
            _ => Err(self.other(at)),
        }
    }

    /// A tensor or nothing, which the arguments go on owning.
    pub fn optional_tensor(&self, at: usize) -> Result<Option<TensorHandle>> {
        if self.is_none(at)? { Ok(None) } else { self.tensor(at).map(Some) }
    }

    /// A list of tensors, which the arguments go on owning.
    pub fn tensors(&self, at: usize) -> Result<Vec<TensorHandle>> {
        let Value::List(values) = self.at(at)? else { return Err(self.other(at)) };
        let handle = |value: &Value| match value {
            Value::Tensor(tensor) => Ok(tensor.handle()),
            _ => Err(self.other(at)),
        };
        values.iter().map(handle).collect()
    }

    /// A list of tensors of which some are missing. The arguments go on owning them.
    pub fn optional_tensors(&self, at: usize) -> Result<Vec<Option<TensorHandle>>> {
        let Value::List(values) = self.at(at)? else { return Err(self.other(at)) };
        let handle = |value: &Value| match value {
            Value::Tensor(tensor) => Ok(Some(tensor.handle())),
            Value::None => Ok(None),
            _ => Err(self.other(at)),
        };
        values.iter().map(handle).collect()
    }

    /// A text.
    pub fn text(&self, at: usize) -> Result<String> {
        match self.at(at)? {
            Value::Str(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            _ => Err(self.other(at)),
        }
    }

    /// A tensor, owned by the caller from now on.
    pub fn take(&mut self, at: usize) -> Result<Tensor> {
        match self.0.get_mut(at).map(|value| std::mem::replace(value, Value::None)) {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            _ => Err(self.other(at)),
        }
    }

    /// An integer.
    pub fn int(&self, at: usize) -> Result<i64> {
        self.optional_int(at)?.ok_or_else(|| self.other(at))
    }

    /// An integer or nothing.
    pub fn optional_int(&self, at: usize) -> Result<Option<i64>> {
        match self.at(at)? {
            Value::Int(value) => Ok(Some(*value)),
            Value::None => Ok(None),
            _ => Err(self.other(at)),
        }
    }

    /// Whether an argument is left out.
    pub fn is_none(&self, at: usize) -> Result<bool> {
        Ok(matches!(self.at(at)?, Value::None))
    }

    /// A number of any kind.
    pub fn scalar(&self, at: usize) -> Result<api::sconce_scalar> {
        Ok(match *self.at(at)? {
            Value::Int(value) => integer(value),
            Value::Float(value) => real(value),
            Value::Bool(value) => truth(value),
            Value::Complex(real, imaginary) => complex(real, imaginary),
            _ => return Err(self.other(at)),
        })
    }

    /// A number of any kind, as an operand.
    pub fn operand(&self, at: usize) -> Result<Operand<'static>> {
        self.scalar(at).map(Operand::Scalar)
    }

    /// A number that is not complex.
    pub fn real_number(&self, at: usize) -> Result<f64> {
        match *self.at(at)? {
            Value::Int(value) => Ok(value as f64),
            Value::Float(value) => Ok(value),
            Value::Bool(value) => Ok(f64::from(u8::from(value))),
            Value::Complex(..) => Err(Error::not_supported(format!(
                "argument {at} is a complex number; a real one is expected"
            ))),
            _ => Err(self.other(at)),
        }
    }

    /// A generator of random numbers; without one it is the default one of the tensor's device.
    pub fn generator(&self, at: usize) -> Result<Generator> {
        match self.at(at)? {
            Value::Generator(generator) => Ok(*generator),
            Value::None => Ok(Generator::DEFAULT),
            _ => Err(self.other(at)),
        }
    }

    /// A number that is not complex, or nothing.
    pub fn optional_real(&self, at: usize) -> Result<Option<f64>> {
        if self.is_none(at)? { Ok(None) } else { self.real_number(at).map(Some) }
    }

    /// A truth value; nothing counts as false.
    pub fn flag(&self, at: usize) -> Result<bool> {
        match self.at(at)? {
            Value::Bool(value) => Ok(*value),
            Value::None => Ok(false),
            _ => Err(self.other(at)),
        }
    }

    /// A list of integers, or nothing.
    pub fn optional_ints(&self, at: usize) -> Result<Option<Vec<i64>>> {
        let Value::List(values) = self.at(at)? else {
            return match self.at(at)? {
                Value::None => Ok(None),
                _ => Err(self.other(at)),
            };
        };
        let number = |value: &Value| match value {
            Value::Int(value) => Ok(*value),
            _ => Err(self.other(at)),
        };
        values.iter().map(number).collect::<Result<_>>().map(Some)
    }

    /// A list of integers.
    pub fn ints(&self, at: usize) -> Result<Vec<i64>> {
        self.optional_ints(at)?.ok_or_else(|| self.other(at))
    }

    fn code(&self, at: usize) -> Result<Option<i32>> {
        match self.at(at)? {
            Value::Code(code) => Ok(Some(*code)),
            Value::None => Ok(None),
            _ => Err(self.other(at)),
        }
    }

    /// Sconce's data type, or that of the default.
    pub fn dtype(&self, at: usize) -> Result<i32> {
        self.code(at)?.map_or(Ok(api::SCONCE_DTYPE_DEFAULT), dtype_of)
    }

    /// Sconce's memory format, or another one for nothing.
    pub fn memory_format(&self, at: usize, otherwise: i32) -> Result<i32> {
        self.code(at)?.map_or(Ok(otherwise), memory_format_of)
    }

    /// Sconce's device, or another one for nothing.
    pub fn device(&self, at: usize, otherwise: i32) -> Result<i32> {
        match self.at(at)? {
            Value::Device(kind, index) => named_device_of(*kind, *index),
            Value::None => Ok(otherwise),
            _ => Err(self.other(at)),
        }
    }

    /// The options that begin at a place: type, layout, device, whether memory is pinned.
    pub fn options(&self, at: usize, device: i32) -> Result<api::sconce_tensor_options> {
        if let Some(layout) = self.code(at + 1)?
            && layout != 0
        {
            return Err(Error::not_supported(format!(
                "{layout} is a layout that Sconce does not have; it has strided (0)"
            )));
        }
        let mut options = options(self.dtype(at)?, self.device(at + 2, device)?);
        options.pinned = self.flag(at + 3)?;
        Ok(options)
    }
}

/// The device of new tensors that are like no other: the CPU, as in torch.
pub const NEW: i32 = api::SCONCE_DEVICE_CPU;
