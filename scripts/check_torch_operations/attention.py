"""Attention and its gradients."""

import ctypes
import random

import torch

from .library import Flags, Int, Optional
from .operands import FLOATS, shape, values

NEAR = {torch.float32: 2e-5, torch.float64: 1e-10, torch.float16: 1e-2, torch.bfloat16: 6e-2}


def operands(device, dtypes, same_heads=False):
    """Query, keys and values of one width, a bias or none, whether positions meet earlier ones alone, and a scale."""
    dtype = random.choice(dtypes)
    batch, heads, queries, keys, width = shape(5, 7)
    key_heads = heads if same_heads else random.choice([one for one in range(1, heads + 1) if heads % one == 0])
    make = lambda heads, positions: values([batch, heads, positions, width], dtype, device)
    if random.random() < 0.5:
        make = lambda heads, positions: torch.randn(
            [batch, positions, heads, width], device=device).to(dtype).transpose(1, 2)
    query, key, value = make(heads, queries), make(key_heads, keys), make(key_heads, keys)
    bias = None
    if random.random() < 0.5:
        bias = torch.randn(random.choice([[queries, keys], [batch, heads, queries, keys], [batch, 1, 1, keys]]),
                           device=device).to(dtype)
        if random.random() < 0.5:
            bias = bias.masked_fill(torch.rand_like(bias, dtype=torch.float32) < 0.3, -torch.inf)
    return query, key, value, bias, bias is None and random.random() < 0.5, random.choice([None, 0.3])


def plain(query, key, value, bias, is_causal, scale):
    """The result and the logarithms of sums, in doubles."""
    query, key, value = (tensor.double() for tensor in (query, key, value))
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if bias is not None:
        scores = scores + bias.double()
    if is_causal:
        meets = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~meets, -torch.inf)
    # A query that meets no key has zeros.
    empty = (scores == -torch.inf).all(-1, keepdim=True)
    weights = scores.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0)
    return weights @ value, scores.logsumexp(-1)


def check_on_cpu(check, device):
    if device != "cpu":
        return
    aten = torch.ops.aten
    query, key, value, bias, is_causal, scale = operands(device, FLOATS)
    # PyTorch's kernel takes elements side by side.
    query, key, value = (tensor if tensor.stride(-1) == 1 else tensor.contiguous() for tensor in (query, key, value))
    if bias is not None and query.dtype.itemsize == 2 and random.random() < 0.5:
        bias = bias.float()
    options = dict(attn_mask=bias, scale=scale)
    output, log_sums = aten._scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, is_causal, **options)
    near = NEAR[query.dtype]
    last = [Optional(None, bias), Optional(ctypes.c_double, scale)]
    check.compare("_scaled_dot_product_flash_attention_for_cpu", [query, key, value, 0.0, is_causal, *last],
                  [output, log_sums], near)
    gradient = torch.randn_like(output)
    expected = aten._scaled_dot_product_flash_attention_for_cpu_backward(
        gradient, query, key, value, output, log_sums, 0.0, is_causal, **options)
    check.compare("_scaled_dot_product_flash_attention_for_cpu_backward",
                  [gradient, query, key, value, output, log_sums, 0.0, is_causal, *last], list(expected), near)


def check_gradients(check, device):
    # These are compared with attention that is written out: PyTorch's CPU has no such functions.
    query, key, value, bias, is_causal, scale = operands(device, [torch.float32, torch.float16], same_heads=True)
    inputs = [tensor.detach().clone().requires_grad_() for tensor in (query, key, value)]
    if bias is not None:
        inputs.append(bias.detach().clone().requires_grad_())
    output, log_sums = plain(*inputs[:3], inputs[3] if bias is not None else None, is_causal, scale)
    gradient = torch.randn_like(output).to(query.dtype)
    output.backward(gradient.double())
    # Strides as PyTorch's kernels return them.
    alike = [torch.empty_like(tensor).copy_(one.grad) for tensor, one in zip((query, key, value, bias), inputs)]
    in_front = [one.grad.transpose(1, 2).contiguous().transpose(1, 2) for one in inputs[:3]]
    output, log_sums = output.detach().to(query.dtype), log_sums.detach().float()
    room = torch.full([*log_sums.shape[:2], (log_sums.shape[2] + 31) // 32 * 32], torch.inf, device=device)
    room[..., :log_sums.shape[2]] = log_sums
    near = {torch.float32: 5e-5, torch.float16: 2e-2}[query.dtype]
    scale = Optional(ctypes.c_double, scale)
    attended = [gradient, query, key, value]

    def compare(name, arguments, expected, results=3):
        check.compare(name, arguments, expected, near, results=results, of="cuda")

    of_bias = []
    if bias is not None:
        length = bias.shape[-1]
        of_bias = [torch.empty([*bias.shape[:-1], (length + 15) // 16 * 16], dtype=bias.dtype, device=device)]
        of_bias = [of_bias[0][..., :length].copy_(inputs[3].grad)]
    flags = Flags([1, 1, 1, 1])
    compare("_scaled_dot_product_efficient_attention_backward",
            [*attended, bias, output, room, None, None, 0.0, flags, is_causal, scale], in_front + of_bias, 4)
    lengths = [Int(query.shape[2]), Int(key.shape[2])]
    compare("_scaled_dot_product_cudnn_attention_backward",
            [*attended, output, log_sums[..., None], None, None, bias, None, None, *lengths, 0.0, is_causal, scale],
            alike[:3])
    compare("_scaled_dot_product_fused_attention_overrideable_backward",
            [*attended, bias, flags, output, log_sums, None, None, *lengths, 0.0, is_causal, None, None, scale], alike, 4)
    if bias is None:
        compare("_scaled_dot_product_flash_attention_backward",
                [*attended, output, log_sums, None, None, *lengths, 0.0, is_causal, None, None, scale], alike[:3])


def check_sequences(check, device):
    query, key, value, _, _, scale = operands(device, [torch.float32, torch.float16], same_heads=True)
    keys, queries = key.shape[2], query.shape[2]
    near = {torch.float32: 5e-5, torch.float16: 2e-2}[query.dtype]
    turned = [tensor.transpose(1, 2) for tensor in (query, key, value)]
    number = lambda value: Optional(ctypes.c_int64, value)
    passed_scale = Optional(ctypes.c_double, scale)
    is_causal = random.random() < 0.5
    left, right = random.choice([(None, None), (-1, -1), (2, 1), (0, -1)])
    # The last query has the position of the last key.
    ahead = torch.arange(keys, device=device) - torch.arange(queries, device=device)[:, None] - (keys - queries)
    meets = torch.ones_like(ahead, dtype=torch.bool)
    meets &= ahead >= -left if left is not None and left >= 0 else True
    last = 0 if is_causal else right
    meets &= ahead <= last if last is not None and last >= 0 else True
    mask = torch.zeros(ahead.shape, device=device).masked_fill(~meets, -torch.inf)
    inputs = [tensor.detach().clone().requires_grad_() for tensor in (query, key, value)]
    output, log_sums = plain(*inputs, mask, False, scale)
    gradient = torch.randn_like(output).to(query.dtype)
    output.backward(gradient.double())
    alike = [torch.empty_like(tensor).copy_(one.grad.transpose(1, 2)) for tensor, one in zip(turned, inputs)]
    output = torch.empty_like(turned[0]).copy_(output.detach().transpose(1, 2))
    log_sums = log_sums.detach().float()
    window = [number(left), number(right)]
    lengths = [Int(queries), Int(keys)]
    check.compare("_flash_attention_forward",
                  [*turned, None, None, *lengths, 0.0, is_causal, False, passed_scale, *window, None, None],
                  [output], near, results=5, of="cuda")
    check.compare("_flash_attention_backward",
                  [gradient.transpose(1, 2), *turned, output, log_sums, None, None, *lengths, 0.0, is_causal, None, None,
                   passed_scale, *window], alike, near, of="cuda")


FAMILIES = [check_on_cpu, check_gradients, check_sequences]
