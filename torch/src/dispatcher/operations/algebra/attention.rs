//! Attention of sequences of several lengths, which programs call by name.

use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, one};
use crate::error::Result;
use crate::fallbacks::attention::sequences::varlen::Varlen;
use crate::registry::value::Value;

/// What this file offers.
pub const OPERATIONS: &[(&str, Function)] = &[
    (
        "torch_attn::_varlen_attn(Tensor query, Tensor key, Tensor value, Tensor cu_seq_q, Tensor? cu_seq_k, SymInt max_q, \
         SymInt max_k, bool is_causal=False, float? scale=None, SymInt[]? window_size=None, bool enable_gqa=False, \
         Tensor? seqused_k=None, Tensor? block_table=None, SymInt? num_splits=None, SymInt backend=1) -> (Tensor, \
         Tensor, Tensor)",
        |arguments| {
            let results = varlen(arguments, 0)?.attention()?;
            Ok(results.into_iter().map(Value::Tensor).collect())
        },
    ),
    (
        "torch_attn::_varlen_attn_out(Tensor(a0!) out, Tensor query, Tensor key, Tensor value, Tensor cu_seq_q, \
         Tensor? cu_seq_k, SymInt max_q, SymInt max_k, bool is_causal=False, float? scale=None, SymInt[]? \
         window_size=None, bool enable_gqa=False, Tensor? seqused_k=None, Tensor? block_table=None, SymInt? \
         num_splits=None, SymInt backend=1) -> Tensor",
        |arguments| one(varlen(arguments, 1)?.attention_into(arguments.tensor(0)?)),
    ),
];

/// The arguments, which begin at a place.
fn varlen(arguments: &Arguments, at: usize) -> Result<Varlen> {
    Ok(Varlen {
        tensors: [arguments.tensor(at)?, arguments.tensor(at + 1)?, arguments.tensor(at + 2)?],
        cumulated: [Some(arguments.tensor(at + 3)?), arguments.optional_tensor(at + 4)?],
        most: [arguments.int(at + 5)?, arguments.int(at + 6)?],
        is_causal: arguments.flag(at + 7)?,
        scale: arguments.optional_real(at + 8)?,
        window: arguments.optional_ints(at + 9)?,
        counts: arguments.optional_tensor(at + 11)?,
        pages: arguments.optional_tensor(at + 12)?,
        splits: arguments.optional_int(at + 13)?,
    })
}
