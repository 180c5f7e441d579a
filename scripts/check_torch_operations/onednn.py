"""What PyTorch compiles for the CPU with frozen weights: oneDNN's convolutions and products, and what follows them. The
weights are packed by PyTorch, as in a compiled model, or left as they are."""

import ctypes
import os
import random

import torch

from .library import NUMBERS, Int, Numbers, Optional
from .operands import values

# Few processors have instructions for float16 that oneDNN uses.
FLOATS = [torch.float32, torch.bfloat16] + ([torch.float16] if torch.ops.mkldnn._is_mkldnn_fp16_supported() else [])
NEAR = {torch.float32: 1e-5, torch.bfloat16: 4e-2, torch.float16: 1e-2}
FUNCTIONS = [
    ("none", [], None), ("relu", [], None), ("sigmoid", [], None), ("tanh", [], None), ("swish", [], None),
    ("hardswish", [], None), ("hardsigmoid", [], None), ("leaky_relu", [0.1], None), ("hardtanh", [-0.5, 1.5], None),
    ("gelu", [], "none"), ("gelu", [], "tanh"),
]


def text(value):
    return Optional(ctypes.c_char_p, None if value is None else value.encode())


def function():
    """A function for PyTorch, and for a call."""
    name, numbers, algorithm = random.choice(FUNCTIONS)
    return (name, numbers, algorithm), [name, Numbers(numbers or [None]), text(algorithm)]


def images(channels, spatial, dtype):
    made = torch.randn(random.randint(1, 3), channels, *[random.randint(5, 11) for _ in range(spatial)]).to(dtype)
    last = torch.channels_last if spatial == 2 else torch.channels_last_3d
    return made.contiguous(memory_format=last) if random.random() < 0.6 else made


def steps(spatial):
    one = lambda least, most: [random.randint(least, most) for _ in range(spatial)]
    return one(0, 2), one(1, 2), one(1, 2)


def check_convolutions(check, device):
    if device != "cpu":
        return
    spatial, dtype = random.choice([2, 2, 3]), random.choice(FLOATS)
    groups = random.choice([1, 1, 2, 4])
    # PyTorch cannot add another tensor to images of one channel.
    inputs, outputs = groups * random.choice([1, 3, 8, 16]), groups * random.choice([2, 5, 8, 32])
    given = images(inputs, spatial, dtype)
    filter = (torch.randn(outputs, inputs // groups, *[random.choice([1, 2, 3])] * spatial) * 0.3).to(dtype)
    bias = random.choice([None, torch.randn(outputs).to(dtype)])
    padding, stride, dilation = steps(spatial)
    if random.random() < 0.7:
        filter = torch.ops.mkldnn._reorder_convolution_weight(
            filter, padding, stride, dilation, groups, random.choice([None, list(given.shape)]))
    (name, numbers, algorithm), passed = function()
    moved = [padding, stride, dilation]
    expected = torch.ops.mkldnn._convolution_pointwise(given, filter, bias, *moved, groups, name, numbers, algorithm)
    arguments = [given, filter, Optional(None, bias), *moved, Int(groups), *passed]
    check.compare("mkldnn__convolution_pointwise", arguments, [expected], NEAR[dtype])
    other = torch.randn(expected.shape).to(dtype)
    # What PyTorch does not fuse has no sums with relu of 16-bit types.
    is_fused = filter.is_mkldnn and groups == 1
    if random.random() < 0.7 or dtype != torch.float32:
        last = torch.channels_last if spatial == 2 else torch.channels_last_3d
        other = other.contiguous(memory_format=last)
    rest = [Int(groups), Optional(ctypes.c_double, None), text(None), Numbers([None]), text(None)]
    combination, after = random.choice(["add", "sub", "mul"]), random.choice([None, "relu"])
    after = after if dtype == torch.float32 or is_fused else None
    expected = torch.ops.mkldnn._convolution_pointwise.binary(
        given, other, filter, bias, *moved, groups, combination, None, after, [], None)
    arguments = [given, other, filter, Optional(None, bias), *moved, rest[0], combination, rest[1], text(after), *rest[3:]]
    # Where the parts are not fused, PyTorch rounds twice.
    near = NEAR[dtype] * (1 if dtype == torch.float32 else 2)
    check.compare("mkldnn__convolution_pointwise_binary", arguments, [expected], near, strides=False)
    into = other.clone(memory_format=torch.preserve_format)
    expected = torch.ops.mkldnn._convolution_pointwise_.binary(
        other.clone(memory_format=torch.preserve_format), given, filter, bias, *moved, groups, "add", None, after, [], None)
    arguments = [into, given, filter, Optional(None, bias), *moved, rest[0], "add", rest[1], text(after), *rest[3:]]
    check.compare("mkldnn__convolution_pointwise_binary_", arguments, [expected], near)
    if not check.wanted and not torch.allclose(into.float(), expected.float(), near, near):
        check.failures.append("mkldnn__convolution_pointwise_binary_ on cpu of another tensor: it is not written")


def check_transposed(check, device):
    if device != "cpu":
        return
    spatial, dtype = random.choice([2, 2, 3]), random.choice(FLOATS)
    groups = random.choice([1, 1, 2])
    inputs, outputs = groups * random.choice([1, 3, 8]), random.choice([1, 4, 8])
    given = images(inputs, spatial, dtype)
    filter = (torch.randn(inputs, outputs, *[random.choice([2, 3])] * spatial) * 0.3).to(dtype)
    bias = random.choice([None, torch.randn(outputs * groups).to(dtype)])
    padding = [random.randint(0, 1) for _ in range(spatial)]
    stride = [random.randint(1, 2) for _ in range(spatial)]
    dilation, more = [1] * spatial, [random.randrange(step) for step in stride]
    if random.random() < 0.8:
        filter = torch.ops.mkldnn._reorder_convolution_transpose_weight(
            filter, padding, more, stride, dilation, groups, random.choice([None, list(given.shape)]))
    (name, numbers, algorithm), passed = function()
    moved = [padding, more, stride, dilation]
    expected = torch.ops.mkldnn._convolution_transpose_pointwise(
        given, filter, bias, *moved, groups, name, numbers, algorithm)
    arguments = [given, filter, Optional(None, bias), *moved, Int(groups), *passed]
    check.compare("mkldnn__convolution_transpose_pointwise", arguments, [expected], NEAR[dtype])


def check_linear(check, device):
    if device != "cpu":
        return
    dtype = random.choice(FLOATS)
    inputs, outputs = random.randint(1, 70), random.randint(1, 70)
    front = [random.randint(1, 5) for _ in range(random.choice([1, 1, 2, 3]))]
    given = values([*front, inputs], dtype, "cpu")
    weights = (torch.randn(outputs, inputs) * 0.3).to(dtype)
    bias = random.choice([None, torch.randn(outputs).to(dtype)])
    packed = weights
    if random.random() < 0.8:
        lines = given.numel() // inputs
        packed = torch.ops.mkldnn._reorder_linear_weight(weights, random.choice([None, lines]))
    (name, numbers, algorithm), passed = function()
    expected = torch.ops.mkldnn._linear_pointwise(given, packed, bias, name, numbers, algorithm)
    arguments = [given, packed, Optional(None, bias), *passed]
    check.compare("_linear_pointwise", arguments, [expected], NEAR[dtype])
    other, combination = torch.randn([*front, outputs]).to(dtype), random.choice(["add", "sub", "mul"])
    expected = torch.ops.mkldnn._linear_pointwise.binary(given, other, packed, bias, combination)
    arguments = [given, other, packed, Optional(None, bias), combination]
    check.compare("_linear_pointwise_binary", arguments, [expected], NEAR[dtype])
    if dtype == torch.float32:
        expected = torch.ops.mkl._mkl_linear(given, weights, weights, bias, 0)
        check.compare("_mkl_linear", [given, weights, weights, Optional(None, bias), Int(0)], [expected])


def weights_of(sizes):
    """Weights of integers. Without VNNI's instructions oneDNN adds two products in 16 bits, which hold those of 7 bits."""
    most = 128 if torch.cpu._is_vnni_supported() and "ONEDNN_MAX_CPU_ISA" not in os.environ else 64
    return torch.randint(-most, most, sizes, dtype=torch.int8)


def quantized(sizes):
    """Integers, and the tensors of their scale and zero point."""
    made = torch.randint(0, 256, sizes, dtype=torch.uint8)
    return made, torch.tensor(random.uniform(0.005, 0.05)), torch.tensor(random.choice([0, random.randint(1, 255)]))


def result(check_types=(torch.uint8, torch.float32, torch.bfloat16)):
    """The scale, zero point and type of a result."""
    dtype = random.choice(check_types)
    if dtype.is_floating_point:
        return 1.0, 0, dtype
    return random.uniform(0.05, 0.3), random.randint(0, 255), dtype


def apart(dtype):
    """Numbers near the middle of two integers may be rounded to either."""
    return {torch.uint8: 1.0, torch.float32: 1e-4, torch.bfloat16: 4e-2}[dtype]


def compare_integers(check, name, arguments, expected):
    """Integers may be one apart."""
    if expected.dtype != torch.uint8:
        check.compare(name, arguments, [expected], apart(expected.dtype))
        return
    check.compare(name, arguments, [expected], integers=1)


def check_integer_linear(check, device):
    if device != "cpu":
        return
    inputs, outputs = random.choice([random.randint(1, 70), 600]), random.randint(1, 40)
    front = [random.randint(1, 5) for _ in range(random.choice([1, 1, 2]))]
    given, scale, zero = quantized([*front, inputs])
    weights = weights_of([outputs, inputs])
    by_row = random.random() < 0.7
    scales = torch.rand(outputs if by_row else 1) * 0.01 + 0.001
    zeros = torch.zeros_like(scales, dtype=torch.int32)
    bias = random.choice([None, torch.randn(outputs)])
    packed = torch.ops.onednn.qlinear_prepack(weights, list(given.shape))
    factor, point, dtype = result()
    name, numbers, algorithm = random.choice(
        [("none", [], ""), ("relu", [], ""), ("gelu", [], "none"), ("gelu", [], "tanh"), ("leaky_relu", [0.1], ""),
         ("tanh", [], ""), ("hardtanh", [-1.0, 2.0], ""), ("hardswish", [], ""), ("swish", [], "")])
    expected = torch.ops.onednn.qlinear_pointwise.tensor(
        given, scale, zero, packed, scales, zeros, bias, factor, point, dtype, name, numbers, algorithm)
    number = Optional(ctypes.c_int32, NUMBERS[dtype])
    head = [given, scale, zero, packed, scales, zeros]
    tail = [factor, Int(point), number]
    arguments = [*head, Optional(None, bias), *tail, name, Numbers(numbers or [None]), algorithm]
    compare_integers(check, "_qlinear_pointwise_tensor", arguments, expected)
    shape = [*front, outputs]
    kind, after = random.choice(["sum", "add"]), random.choice(["none", "relu"])
    other_scale, other_zero = 1.0, 0
    if kind == "sum" and dtype == torch.uint8:
        other = torch.randint(0, 256, shape, dtype=torch.uint8)
        other_scale, other_zero = random.uniform(0.05, 0.3), random.randint(0, 255)
    else:
        other = torch.randn(shape).to(torch.float32 if dtype == torch.uint8 else dtype)
    expected = torch.ops.onednn.qlinear_pointwise.binary_tensor(
        given, scale, zero, packed, scales, zeros, other.clone(), bias, factor, point, dtype, other_scale, other_zero,
        kind, 1.0, after, [], "")
    arguments = [*head, Optional(None, other), Optional(None, bias), *tail, other_scale, Int(other_zero), kind, 1.0, after,
                 Numbers([None]), ""]
    compare_integers(check, "_qlinear_pointwise_binary_tensor", arguments, expected)


def check_integer_convolutions(check, device):
    if device != "cpu":
        return
    groups = random.choice([1, 1, 2, 4])
    inputs, outputs = groups * random.choice([1, 3, 8, 64]), groups * random.choice([1, 5, 16])
    given, scale, zero = quantized([random.randint(1, 2), inputs, random.randint(5, 9), random.randint(5, 9)])
    if random.random() < 0.6:
        given = given.contiguous(memory_format=torch.channels_last)
    weights = weights_of([outputs, inputs // groups, *[random.choice([1, 3])] * 2])
    scales = torch.rand(outputs if random.random() < 0.7 else 1) * 0.01 + 0.001
    zeros = torch.zeros_like(scales, dtype=torch.int32)
    bias = random.choice([None, torch.randn(outputs)])
    padding, stride, dilation = steps(2)
    moved = [stride, padding, dilation]
    packed = torch.ops.onednn.qconv_prepack(
        weights, scales, scale.item(), zero.item(), *moved, groups, list(given.shape))
    factor, point, dtype = result()
    name, numbers = random.choice([("none", []), ("relu", []), ("hardtanh", [-1.0, 2.0]), ("hardswish", []), ("swish", [])])
    expected = torch.ops.onednn.qconv_pointwise.tensor(
        given, scale, zero, packed, scales, zeros, bias, *moved, groups, factor, point, dtype, name, numbers, None)
    head = [given, scale, zero, packed, scales, zeros]
    tail = [*moved, Int(groups), factor, Int(point), Optional(ctypes.c_int32, NUMBERS[dtype])]
    arguments = [*head, Optional(None, bias), *tail, name, Numbers(numbers or [None]), text(None)]
    compare_integers(check, "_qconv_pointwise_tensor", arguments, expected)
    kind, after = "sum", random.choice([None, "relu"])
    other_scale, other_zero = 1.0, 0
    if dtype == torch.uint8:
        other = torch.randint(0, 256, expected.shape, dtype=torch.uint8)
        other_scale, other_zero = random.uniform(0.05, 0.3), random.randint(0, 255)
    else:
        other = torch.randn(expected.shape).to(dtype)
    other = other.contiguous(memory_format=torch.channels_last)
    expected = torch.ops.onednn.qconv2d_pointwise.binary_tensor(
        given, scale, zero, packed, scales, zeros, other.clone(memory_format=torch.preserve_format), bias, *moved, groups,
        factor, point, dtype, other_scale, other_zero, kind, None, after, [], None)
    arguments = [*head, other, Optional(None, bias), *tail, other_scale, Int(other_zero), kind,
                 Optional(ctypes.c_double, None), text(after), Numbers([None]), text(None)]
    compare_integers(check, "_qconv2d_pointwise_binary_tensor", arguments, expected)


FAMILIES = [
    check_convolutions, check_transposed, check_linear, check_integer_linear, check_integer_convolutions]
