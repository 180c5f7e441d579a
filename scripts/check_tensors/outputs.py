"""Results written to tensors of the caller's choice: every call that returns a tensor is made in its form with an
output, too, and the tensor that was written stands for the one that was returned."""

import numpy

from . import dtypes, operands
from .library import Options, Refused, numbers, options

# These take the output as a parameter of the same function.
WITH_INTO = ("unary", "binary")
# Results that are converted to the output's type.
CASTABLE = WITH_INTO + ("clamp", "where", "cat", "stack")
WIDER = {
    0: ["bool", "u8", "i32", "f32", "c64"],
    1: ["i16", "i64", "f16", "f64", "c128"],
    2: ["f16", "bf16", "f32", "f64", "c64"],
    3: ["c64", "c128"],
}


class Wrong(Exception):
    """What a form with an output did otherwise."""


class Outputs:
    """Draws outputs for the calls of one case."""

    def __init__(self, library, rng):
        self.library, self.rng = library, rng
        self.gelu = [library.constants[f"SCONCE_UNARY_{name}"] for name in ("GELU", "GELU_TANH")]

    def has(self, function):
        return function in WITH_INTO or f"sconce_tensor_{function}_out" in self.library.functions

    def call(self, function, arguments, *into):
        handles = [tensor.handle for tensor in into]
        if function in WITH_INTO:
            # Their last argument is the output.
            self.library.call(function, *arguments[:-1], *handles, None)
        else:
            given = [each for each in arguments if not isinstance(each, Options)]
            self.library.call(f"{function}_out", *given, *handles)

    def refused(self, function, arguments):
        """A call that is refused is refused with an output, too."""
        place = [each.device for each in arguments if isinstance(each, Options)]
        into = self.library.made("undefined")
        if place:
            into = self.library.made("empty", numbers([0]), 1, options(device=place[0]))
        try:
            self.call(function, arguments, into)
        except Refused:
            return
        raise Wrong(f"{function} with an output is not refused")

    def written(self, function, arguments, plain):
        """The tensors that a call writes, in place of those that it returned."""
        drawn = [self.output(tensor, function) for tensor in plain]
        self.call(function, arguments, *[into for into, _ in drawn])
        for into, memory in drawn:
            self.check_gaps(into, memory)
        if function in CASTABLE and self.rng.random() < 0.5:
            self.check_conversion(function, arguments, plain[0])
        return [into for into, _ in drawn]

    def output(self, plain, function):
        """An output for a result: undefined, without elements, of another shape, or of the shape with any strides."""
        dtype, sizes = dtypes.NAMES[plain.dtype], list(plain.sizes)
        way = self.rng.random()
        is_sequence = function in ("arange", "linspace", "eye", "randperm")
        if way < 0.15 and not is_sequence:
            return self.library.made("undefined"), None
        if way < 0.3:
            sizes = [0]
        elif way < 0.45:
            sizes = operands.shape(self.rng)
            if is_sequence and numpy.prod(sizes) == numpy.prod(plain.sizes):
                # A sequence keeps a shape with as many elements.
                sizes = list(plain.sizes)
        operand = operands.operand(self.rng, dtype, sizes, overlapping=False)
        tensor, memory = operand.make(self.library, plain.device)
        return tensor, (operand, memory) if sizes == list(plain.sizes) else None

    @staticmethod
    def check_gaps(into, drawn):
        """What lies between the elements must be as it was."""
        if drawn is None:
            return
        operand, memory = drawn
        element = dtypes.BYTES[operand.dtype]
        if into.strides != operand.strides:
            raise Wrong(f"the output has strides {into.strides}, not {operand.strides}")
        ours = bytearray(memory.bytes(element))
        view = operands.Operand(operand.dtype, bytes(ours), operand.sizes, operand.strides, operand.offset)
        if view.raw.tobytes() != into.bytes(element):
            raise Wrong("the output has left its memory")
        untouched = bytearray(operand.data)
        places = view.view(numpy.arange(len(ours) // element)).reshape(-1)
        for place in places:
            untouched[place * element : (place + 1) * element] = ours[place * element : (place + 1) * element]
        if untouched != ours:
            raise Wrong(f"something between the elements of the output {operand} was written")

    def check_conversion(self, function, arguments, plain):
        """An output of another type has the converted result."""
        own = dtypes.NAMES[plain.dtype]
        wanted = str(self.rng.choice(WIDER[dtypes.kind_of(own)] if own in dtypes.COMMON else [own]))
        into = self.library.made("empty", numbers([0]), 1, options(dtypes.NUMBER[wanted], plain.device))
        self.call(function, arguments, into)
        converted = self.library.made("to", plain.handle, options(dtypes.NUMBER[wanted]), False, False)
        ours, theirs = [
            dtypes.decode(wanted, tensor.bytes(dtypes.BYTES[wanted])) for tensor in (into, converted)
        ]
        same = (ours == theirs) | ((ours != ours) & (theirs != theirs))
        if function == "unary" and arguments[0] in self.gelu and own in ("f16", "bf16"):
            # On a device, 16-bit results are rounded from another formula than wider ones (docs/design/pointwise.md).
            same |= abs(ours - theirs) <= 1e-6 + 2.0**-7 * abs(theirs)
        if into.sizes != plain.sizes or not all(same):
            differing = list(zip(ours[~same][:4].tolist(), theirs[~same][:4].tolist())) if len(same) else []
            raise Wrong(
                f"an output of {wanted} has other values than the converted result of {own}: {differing}, "
                f"{int((~same).sum())} of {same.size}"
            )
