//! The inputs of a run: what they are, read once, and compared with what the model was compiled for. A model reads what
//! it was compiled for, whatever it is passed.

use super::check::{place_name, type_and_sizes};
use super::description::Slot;
use crate::abi::constants::{DEVICE_TYPE_CPU, SCALAR_TYPES};
use crate::abi::copies::described;
use crate::error::{Error, Result};
use crate::package::expressions::Expression;
use crate::package::inputs::{Dimension, Extent, Relation, Symbol, SymbolValue};
use crate::sconce::api;
use crate::sconce::properties::{append_layout, device_of_tensor, dtype_of_tensor};
use crate::sconce::tensor::TensorHandle;

/// What the inputs of a run are.
pub(super) struct Facts {
    /// The type, the number of dimensions and the sizes of each input, one input after the other.
    shapes: Vec<i64>,
    /// The strides of each input.
    strides: Vec<i64>,
    /// Where the sizes of each input begin in `shapes`, where its strides begin, and its device.
    inputs: Vec<(usize, usize, i32)>,
}

impl Facts {
    /// Reads the inputs. A failure names the input.
    pub(super) fn of(inputs: &[TensorHandle]) -> Result<Facts> {
        let (shapes, strides) =
            (Vec::with_capacity(8 * inputs.len()), Vec::with_capacity(4 * inputs.len()));
        let mut facts = Facts { shapes, strides, inputs: Vec::with_capacity(inputs.len()) };
        for (index, input) in inputs.iter().enumerate() {
            facts.add(*input).map_err(|error| match error.status {
                api::SCONCE_ERROR_INVALID_HANDLE => error.within(&format!("input {index}")),
                _ => error,
            })?;
        }
        Ok(facts)
    }

    fn add(&mut self, input: TensorHandle) -> Result<()> {
        self.shapes.push(i64::from(dtype_of_tensor(input)?));
        let rank = self.shapes.len();
        self.shapes.push(0);
        self.inputs.push((self.shapes.len(), self.strides.len(), device_of_tensor(input)?));
        self.shapes[rank] = append_layout(input, &mut self.shapes, &mut self.strides)? as i64;
        Ok(())
    }

    /// Types and shapes, which decide what a run loads.
    pub(super) fn shapes(&self) -> &[i64] {
        &self.shapes
    }

    /// The type, the sizes and the strides of an input.
    fn input(&self, index: usize) -> Option<(i64, &[i64], &[i64], i32)> {
        let &(sizes, strides, device) = self.inputs.get(index)?;
        let rank = usize::try_from(*self.shapes.get(sizes - 1)?).ok()?;
        let dtype = *self.shapes.get(sizes - 2)?;
        let sizes = self.shapes.get(sizes..sizes + rank)?;
        Some((dtype, sizes, self.strides.get(strides..strides + rank)?, device))
    }
}

/// What is compared of an input.
struct InputCheck {
    /// Sconce's type; none that a tensor has, if Sconce does not have it.
    dtype: Option<i32>,
    place: i32,
    dimensions: Option<Vec<Dimension>>,
}

/// What is compared of all inputs.
pub(super) struct InputChecks {
    inputs: Vec<InputCheck>,
    symbols: Vec<Symbol>,
    /// Whether anything depends on a symbol.
    has_relations: bool,
}

impl InputChecks {
    /// The checks of a model on a device.
    pub(super) fn new(inputs: &[Slot], symbols: &[Symbol], device: i32) -> InputChecks {
        let check = |input: &Slot| {
            let named = |name: &String| {
                let known = SCALAR_TYPES.iter().find(|known| known.name == name);
                known.map_or(-1, |known| known.dtype)
            };
            InputCheck {
                dtype: input.wanted.dtype.as_ref().map(named),
                place: place_of(input, device),
                dimensions: input.wanted.dimensions.clone(),
            }
        };
        let inputs: Vec<InputCheck> = inputs.iter().map(check).collect();
        let depends = |dimension: &Dimension| {
            let stride = dimension.stride.as_ref();
            dimension.relation.is_some()
                || stride.is_some_and(|stride| !matches!(stride, Expression::Number(_)))
        };
        let mut dimensions = inputs.iter().filter_map(|input| input.dimensions.as_ref()).flatten();
        let has_relations = dimensions.any(depends);
        InputChecks { inputs, symbols: symbols.to_vec(), has_relations }
    }

    /// Refuses inputs that the model was not compiled for. `slots` are the model's inputs, and `given` what was passed.
    pub(super) fn check(
        &self,
        facts: &Facts,
        slots: &[Slot],
        given: &[TensorHandle],
    ) -> Result<()> {
        for (index, check) in self.inputs.iter().enumerate() {
            let Some((dtype, sizes, _, device)) = facts.input(index) else { continue };
            let dtype_fits = check.dtype.is_none_or(|wanted| i64::from(wanted) == dtype);
            let in_range = |(dimension, size): (&Dimension, &i64)| {
                dimension.least <= *size && *size <= dimension.most
            };
            let sizes_fit = check.dimensions.as_ref().is_none_or(|dimensions| {
                dimensions.len() == sizes.len() && dimensions.iter().zip(sizes).all(in_range)
            });
            if !dtype_fits || device != check.place || !sizes_fit {
                return Err(refused(index, &slots[index], given[index], check.place));
            }
        }
        let symbols = if self.has_relations { self.values(facts) } else { Vec::new() };
        let symbol = |at: usize| symbols.get(at).copied().flatten();
        // The sizes of all inputs come first: strides depend on them, also on those of other inputs.
        for (index, check) in self.inputs.iter().enumerate().filter(|_| self.has_relations) {
            let (Some(dimensions), Some((_, sizes, ..))) = (&check.dimensions, facts.input(index))
            else {
                continue;
            };
            for (dim, (dimension, &size)) in dimensions.iter().zip(sizes).enumerate() {
                let size_fits = match &dimension.relation {
                    None | Some(Relation::Unsaid) => true,
                    // What has no value is not known.
                    Some(Relation::Is(of)) => of.value(&symbol).is_none_or(|wanted| wanted == size),
                    Some(Relation::OneOf(these)) => {
                        these.iter().any(|&one| symbol(one).is_none_or(|value| value == size))
                    }
                };
                if !size_fits {
                    return Err(self.unrelated(facts, slots, index, dim));
                }
            }
        }
        for (index, check) in self.inputs.iter().enumerate() {
            let (Some(dimensions), Some((_, sizes, strides, _))) =
                (&check.dimensions, facts.input(index))
            else {
                continue;
            };
            let is_empty = sizes.contains(&0);
            for (dimension, (&size, &stride)) in dimensions.iter().zip(sizes.iter().zip(strides)) {
                // The stride of a single element, or of none, reaches nothing.
                let Some(wanted) = dimension.stride.as_ref().filter(|_| size > 1 && !is_empty)
                else {
                    continue;
                };
                if wanted.value(&symbol).is_some_and(|wanted| wanted != stride) {
                    return Err(self.misplaced(facts, slots, index, &symbol));
                }
            }
        }
        Ok(())
    }

    /// The strides that an input must have, beside those of its dimensions that may be any; `None` if they are not
    /// known, or repeat elements.
    pub(super) fn strides(&self, facts: &Facts, index: usize) -> Option<Vec<i64>> {
        let values = self.values(facts);
        let symbol = |at: usize| values.get(at).copied().flatten();
        let dimensions = self.inputs.get(index)?.dimensions.as_ref()?;
        let (_, sizes, given, _) = facts.input(index)?;
        let each = dimensions.iter().zip(sizes.iter().zip(given));
        let wanted = each.map(|(dimension, (&size, &given))| match &dimension.stride {
            Some(wanted) if size > 1 => wanted.value(&symbol).filter(|&stride| stride > 0),
            _ => Some(given),
        });
        (dimensions.len() == sizes.len()).then(|| wanted.collect()).flatten()
    }

    /// Where an input must lie.
    pub(super) fn place(&self, index: usize) -> Option<i32> {
        self.inputs.get(index).map(|input| input.place)
    }

    /// The values of all symbols.
    fn values(&self, facts: &Facts) -> Vec<Option<i64>> {
        let mut values = Vec::with_capacity(self.symbols.len());
        for symbol in &self.symbols {
            let value = match &symbol.is {
                SymbolValue::Size(input, dim) => {
                    facts.input(*input).and_then(|(_, sizes, ..)| sizes.get(*dim).copied())
                }
                SymbolValue::Stride(input, dim) => {
                    facts.input(*input).and_then(|(_, _, strides, _)| strides.get(*dim).copied())
                }
                SymbolValue::Of(of) => of.value(&|at: usize| values.get(at).copied().flatten()),
            };
            values.push(value);
        }
        values
    }

    /// A size that does not fit to others.
    fn unrelated(&self, facts: &Facts, slots: &[Slot], index: usize, dim: usize) -> Error {
        let sizes = facts.input(index).map(|(_, sizes, ..)| sizes).unwrap_or_default();
        let symbols = self.values(facts);
        let relation = self.inputs[index].dimensions.as_ref();
        let relation = relation.and_then(|dimensions| dimensions.get(dim)?.relation.as_ref());
        let symbol = |at: usize| symbols.get(at).copied().flatten();
        let mut used = Vec::new();
        let wanted = match relation {
            Some(relation @ Relation::Is(of)) => {
                of.each_symbol(&mut |symbol| used.push(symbol));
                let value = of.value(&symbol).unwrap_or_default();
                format!("{value} ({})", self.relation_words(relation))
            }
            Some(relation @ Relation::OneOf(these)) => {
                used.extend(these);
                self.relation_words(relation)
            }
            _ => String::new(),
        };
        used.sort_unstable();
        used.dedup();
        let words = used.iter().filter_map(|&symbol| {
            let value = symbols.get(symbol).copied().flatten()?;
            let (name, is) = (&self.symbols.get(symbol)?.name, &self.symbols.get(symbol)?.is);
            Some(match is {
                SymbolValue::Of(_) => {
                    format!("{name} is {value}, which is {}", self.definition_words(is, slots))
                }
                is => format!("{name} is {value}, {}", self.definition_words(is, slots)),
            })
        });
        Error::invalid_argument(format!(
            "input {index} ({}) has the sizes {sizes:?}; the model takes {} along dimension {dim}, and {}",
            slots[index].name,
            wanted,
            words.collect::<Vec<_>>().join("; ")
        ))
    }

    /// Strides that the model was not compiled for.
    fn misplaced(
        &self,
        facts: &Facts,
        slots: &[Slot],
        index: usize,
        symbol: &impl Fn(usize) -> Option<i64>,
    ) -> Error {
        let strides = facts.input(index).map(|(_, _, strides, _)| strides).unwrap_or_default();
        let dimensions = self.inputs[index].dimensions.iter().flatten().enumerate();
        let wanted = dimensions.filter_map(|(dim, dimension)| {
            let stride = dimension.stride.as_ref()?;
            Some(format!("{} along dimension {dim}", stride.value(symbol)?))
        });
        Error::invalid_argument(format!(
            "input {index} ({}) has the strides {strides:?}; the model was compiled for {}. Copy it to that order, with \
             sconce_tensor_contiguous for a row-major one",
            slots[index].name,
            wanted.collect::<Vec<_>>().join(", ")
        ))
    }

    /// A relation in words, such as `2*s77`.
    fn relation_words(&self, relation: &Relation) -> String {
        let name = |at: usize| self.symbols.get(at).map_or("?".to_owned(), |it| it.name.clone());
        match relation {
            Relation::Is(of) => of.words(&name),
            Relation::OneOf(these) => {
                let names: Vec<String> = these.iter().map(|&one| name(one)).collect();
                format!("one of {}", names.join(", "))
            }
            Relation::Unsaid => {
                "not compared: it depends on other sizes, and the source does not say how"
                    .to_owned()
            }
        }
    }

    /// How sizes of an input depend on others, as `dimension 0 is 2*s77`; empty if they do not.
    pub(super) fn relations(&self, index: usize) -> Vec<String> {
        let dimensions = self.inputs.get(index).and_then(|input| input.dimensions.as_ref());
        let each = dimensions.into_iter().flatten().enumerate();
        each.filter_map(|(dim, dimension)| {
            let relation = self.relation_words(dimension.relation.as_ref()?);
            Some(format!("dimension {dim} is {relation}"))
        })
        .collect()
    }

    /// What a symbol is, in words.
    fn definition_words(&self, is: &SymbolValue, slots: &[Slot]) -> String {
        let name = |input: usize| slots.get(input).map_or("?", |slot| slot.name.as_str());
        match is {
            SymbolValue::Size(input, dim) => {
                format!("the size of dimension {dim} of input {input} ({})", name(*input))
            }
            SymbolValue::Stride(input, dim) => {
                format!("the stride of dimension {dim} of input {input} ({})", name(*input))
            }
            SymbolValue::Of(of) => self.relation_words(&Relation::Is(of.clone())),
        }
    }

    /// Sizes that the source lets differ at will, if there are several: the generated code may need a relation between
    /// them all the same, because it takes what it needs of one, such as half of it, for the size of another.
    pub(super) fn unrelated_words(&self, slots: &[Slot]) -> Option<String> {
        let is_variable = |input: usize, dim: usize| {
            let dimensions = self.inputs.get(input).and_then(|it| it.dimensions.as_ref());
            let dimension = dimensions.and_then(|dimensions| dimensions.get(dim));
            dimension
                .is_some_and(|it| it.relation.is_none() && !matches!(it.extent, Extent::Fixed(_)))
        };
        let free = self.symbols.iter().filter_map(|symbol| match symbol.is {
            SymbolValue::Size(input, dim) if is_variable(input, dim) => {
                let name = slots.get(input).map_or("?", |slot| slot.name.as_str());
                Some(format!("dimension {dim} of input {input} ({name})"))
            }
            _ => None,
        });
        let free: Vec<String> = free.collect();
        (free.len() > 1).then(|| {
            format!(
                "sizes with no relation in the source: {}; if the program needs one, such as half the size, it is not \
                 compared",
                free.join(", ")
            )
        })
    }

    /// What the symbols are that sizes depend on, as `s77 is dimension 0 of input 0 (x)`.
    pub(super) fn symbol_words(&self, slots: &[Slot]) -> Vec<String> {
        // Symbols that follow from others are defined behind these.
        let mut used = vec![false; self.symbols.len()];
        let dimensions = self.inputs.iter().filter_map(|input| input.dimensions.as_ref()).flatten();
        for relation in dimensions.filter_map(|dimension| dimension.relation.as_ref()) {
            let mut note = |symbol: usize| used[symbol] = true;
            match relation {
                Relation::Is(of) => of.each_symbol(&mut note),
                Relation::OneOf(these) => these.iter().for_each(|&one| note(one)),
                Relation::Unsaid => {}
            }
        }
        for (at, symbol) in self.symbols.iter().enumerate().rev() {
            if let SymbolValue::Of(of) = &symbol.is
                && used[at]
            {
                of.each_symbol(&mut |symbol| used[symbol] = true);
            }
        }
        let used = self.symbols.iter().zip(used).filter(|(_, used)| *used);
        used.map(|(symbol, _)| {
            format!("{} is {}", symbol.name, self.definition_words(&symbol.is, slots))
        })
        .collect()
    }
}

/// Where an input must lie.
fn place_of(input: &Slot, device: i32) -> i32 {
    match input.wanted.device_type {
        Some(DEVICE_TYPE_CPU) => api::SCONCE_DEVICE_CPU,
        _ => device,
    }
}

fn refused(index: usize, input: &Slot, tensor: TensorHandle, place: i32) -> Error {
    Error::invalid_argument(format!(
        "input {index} ({}) is {}; the model takes {} on {}",
        input.name,
        described(tensor),
        type_and_sizes(input),
        place_name(place)
    ))
}

/// Whether anything is known of an input.
pub(super) fn is_checked(input: &Slot) -> bool {
    input.wanted.dimensions.is_some()
}
