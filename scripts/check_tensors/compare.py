"""A case: operands, a call of the library, and what must come of it."""

import numpy

from . import dtypes
from .library import CPU, Refused, Tensor


class Expected:
    """A tensor: `values` within `units` in the last place and `slack`, which may be an array."""

    def __init__(self, dtype, values, units=0.0, slack=0.0):
        self.dtype, self.values, self.units, self.slack = dtype, numpy.asarray(values), units, slack
        self.sizes = self.values.shape

    def wrong(self, tensor):
        data = tensor.bytes(dtypes.BYTES[self.dtype])
        with numpy.errstate(all="ignore"):
            return self.wrong_values(dtypes.decode(self.dtype, data).reshape(self.sizes))

    def wrong_values(self, ours):
        rounded = dtypes.round_to(self.dtype, self.values) if dtypes.kind_of(self.dtype) > 1 else self.values
        same = (ours == rounded) | ((ours != ours) & (rounded != rounded))
        if (self.units or numpy.any(self.slack)) and dtypes.kind_of(self.dtype) > 1:
            near = self.units * dtypes.unit(self.dtype, self.values) + self.slack
            same |= numpy.abs(ours.astype(self.values.dtype) - self.values) <= near
        if numpy.all(same):
            return None
        place = tuple(numpy.argwhere(~same)[0])
        return f"element {list(map(int, place))} is {ours[place]!r}, not {self.values[place]!r}"


class Same:
    """A tensor of elements that were moved, not calculated: with `of` a view of that operand."""

    def __init__(self, dtype, raw, of=None, strides=None):
        self.dtype, self.raw, self.of, self.strides = dtype, raw, of, strides
        self.sizes = raw.shape

    def wrong(self, tensor):
        if self.strides is not None and self.raw.size:
            differ = [
                size > 1 and ours != theirs for size, ours, theirs in zip(self.sizes, tensor.strides, self.strides)
            ]
            if any(differ):
                return f"strides {tensor.strides}, not {tuple(self.strides)}"
        ours, expected = tensor.bytes(dtypes.BYTES[self.dtype]), self.raw.tobytes()
        return None if ours == expected else f"other elements: {ours[:32].hex()}, not {expected[:32].hex()}"


class Value:
    """A number or a truth value that is no tensor."""

    def __init__(self, value):
        self.value = value

    def wrong_value(self, ours):
        same = ours == self.value or (ours != ours and self.value != self.value)
        return None if same and isinstance(ours, type(self.value)) else f"{ours!r}, not {self.value!r}"


class Refusal:
    """An error whose text contains the words, or one of several texts."""

    def __init__(self, *words):
        self.words = words


class Case:
    def __init__(self, name, operands, call, expected, note="", changed=None, refused_on_cpu=None):
        """`call` takes the library, the device and the operands' tensors. `changed` maps the places of operands
        that are written to the bytes of their memory afterwards. `refused_on_cpu` is what only the CPU refuses."""
        self.name, self.operands, self.call, self.note = name, operands, call, note
        self.expected = expected if isinstance(expected, (list, Refusal)) else [expected]
        self.changed, self.refused_on_cpu = changed or {}, refused_on_cpu

    def __str__(self):
        return f"{self.name} {self.note} of {', '.join(map(str, self.operands)) or 'nothing'}"

    def wrong(self, library, device):
        made = [operand.make(library, device) for operand in self.operands]
        tensors = [tensor for tensor, _ in made]
        wanted = (device == CPU and self.refused_on_cpu) or self.expected
        try:
            results = self.call(library, device, *tensors)
        except Refused as refused:
            if not isinstance(wanted, Refusal):
                return f"refused: {refused}"
            named = not wanted.words or any(words in refused.message for words in wanted.words)
            return self.wrong_memory(made) if named else f"other words: {refused}"
        if isinstance(wanted, Refusal):
            return f"succeeded, but should say {wanted.words}"
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        if len(results) != len(wanted):
            return f"{len(results)} results, not {len(wanted)}"
        for at, (result, expected) in enumerate(zip(results, wanted)):
            text = self.wrong_result(result, expected, device, tensors)
            if text:
                return f"result {at}: {text}"
        return self.wrong_memory(made)

    @staticmethod
    def wrong_result(result, expected, device, tensors):
        if isinstance(expected, Value):
            return expected.wrong_value(result)
        assert isinstance(result, Tensor)
        if result.dtype != dtypes.NUMBER[expected.dtype]:
            return f"type {dtypes.NAMES[result.dtype]}, not {expected.dtype}"
        if result.sizes != tuple(expected.sizes):
            return f"sizes {result.sizes}, not {tuple(expected.sizes)}"
        if result.device != device:
            return f"it is on device {result.device}"
        shared = getattr(expected, "of", None)
        if shared is not None and not result.shares(tensors[shared]):
            return "no view"
        return expected.wrong(result)

    def wrong_memory(self, made):
        """Operands must be as they were, also between their elements, unless the call writes to them."""
        for at, (operand, (_, memory)) in enumerate(zip(self.operands, made)):
            expected = self.changed.get(at, operand.data)
            if callable(expected):
                text = expected(memory)
                if text:
                    return f"memory of operand {at}: {text}"
            elif memory.bytes(dtypes.BYTES[operand.dtype]) != expected:
                return f"the memory of operand {at} was written to, or not as it should"
        return None
