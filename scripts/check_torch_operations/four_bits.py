"""Products with weights of 4 bits, and with weights that are packed for FBGEMM."""

import random

import torch

from .library import Int

FLOATS = [torch.float32, torch.bfloat16, torch.float16]


def check_four_bits(check, device):
    group = random.choice([32, 64, 128])
    inputs, rows = group * random.randint(1, 3), random.randint(1, 9)
    if device == "cpu":
        dtype, outputs = random.choice(FLOATS), 16 * random.randint(1, 12)
        bits = torch.randint(0, 16, [outputs, inputs], dtype=torch.int32)
        packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(bits, 1)
    else:
        dtype, outputs, inner = torch.bfloat16, 8 * random.randint(1, 12), random.choice([2, 4, 8])
        inputs = -(-inputs // (inner * 16)) * inner * 16
        group = random.choice([one for one in (32, 64, 128) if inputs % one == 0])
        bits = torch.randint(0, 256, [outputs, inputs // 2], dtype=torch.uint8, device=device)
        packed = torch.ops.aten._convert_weight_to_int4pack(bits, inner)
    scales = (torch.rand(inputs // group, outputs, 2, device=device) * 0.1 - 0.05).to(dtype)
    given = torch.randn(rows, inputs, device=device).to(dtype)
    near = 1e-4 if dtype == torch.float32 else None
    if device == "cpu":
        expected = torch.ops.aten._weight_int4pack_mm_for_cpu(given, packed, group, scales)
        check.compare("_weight_int4pack_mm_cpu_tensor", [given, packed, torch.tensor(group), scales], [expected], near)
    else:
        expected = torch.ops.aten._weight_int4pack_mm(given, packed, group, scales)
        check.compare("_weight_int4pack_mm", [given, packed, Int(group), scales], [expected], near)


def check_dynamic(check, device):
    if device != "cpu":
        return
    group, outputs = random.choice([32, 64]), random.randint(1, 20)
    inputs = group * random.randint(1, 3)
    group = random.choice([group, inputs])
    weights = torch.randint(0, 256, [outputs, inputs // 2], dtype=torch.uint8)
    scales = torch.rand(outputs, inputs // group) * 0.1
    sizes = [Int(group), Int(inputs), Int(outputs)]
    packed = torch.ops.aten._dyn_quant_pack_4bit_weight(weights, scales, None, group, inputs, outputs)
    check.compare("_dyn_quant_pack_4bit_weight", [weights, scales, None, *sizes], [packed])
    dtype = random.choice([torch.float32, torch.bfloat16]) if group == inputs else torch.float32
    given = (torch.randn(random.randint(1, 5), inputs) * 3).to(dtype)
    expected = torch.ops.aten._dyn_quant_matmul_4bit(given, packed, group, inputs, outputs)
    near = 1e-4 if dtype == torch.float32 else None
    check.compare("_dyn_quant_matmul_4bit", [given, packed, *sizes], [expected], near)


def chain(check, names, packing, call, expected, near):
    """Compares a product with weights that the library packed itself."""
    if check.wanted and not any(word in names[1] for word in check.wanted):
        return
    (packed,) = check.library.call(names[0], packing, 1, "cpu")
    check.compare(names[1], call(packed), [expected], near)


def check_wrapped(check, device):
    if device != "cpu":
        return
    inputs, outputs = random.randint(1, 40), random.randint(1, 20)
    given, weights, bias = torch.randn(random.randint(1, 6), inputs), torch.randn(outputs, inputs), torch.randn(outputs)
    theirs = torch.ops._quantized.wrapped_fbgemm_pack_gemm_matrix_fp16(weights)
    expected = torch.ops._quantized.wrapped_fbgemm_linear_fp16_weight(given, theirs, bias, outputs)
    names = ("wrapped_fbgemm_pack_gemm_matrix_fp16", "wrapped_fbgemm_linear_fp16_weight")
    chain(check, names, [weights], lambda packed: [given, packed, bias, Int(outputs)], expected, 1e-4)
    scales = [torch.tensor(random.uniform(0.01, 0.05)) for _ in range(3)]
    zeros = [torch.tensor(random.randint(-5, 5)), *[torch.tensor(random.randint(50, 200)) for _ in range(2)]]
    packing = [weights, scales[0], zeros[0], bias]
    theirs = torch.ops.aten._wrapped_linear_prepack(*packing)
    expected = torch.ops.aten._wrapped_quantized_linear_prepacked(
        given, scales[1], zeros[1], theirs, scales[2], zeros[2], outputs)
    names = ("_wrapped_linear_prepack", "_wrapped_quantized_linear_prepacked")
    # A number between two integers may be rounded to either.
    call = lambda packed: [given, scales[1], zeros[1], packed, scales[2], zeros[2], Int(outputs)]
    chain(check, names, packing, call, expected, scales[2].item() * 1.01)


FAMILIES = [check_four_bits, check_dynamic, check_wrapped]
