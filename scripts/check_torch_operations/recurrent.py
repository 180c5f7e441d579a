"""Recurrent networks. The ABI has most functions for CUDA alone; PyTorch's modules on the CPU calculate the same."""

import random

import torch

from .library import Int, Optional
from .operands import shape

NEAR = {torch.float32: 1e-5, torch.float16: 4e-3}


def check_cell(check, device):
    dtype = random.choice([torch.float32, torch.float16])
    batch, inner, width = shape(3, 9)
    make = lambda *sizes: torch.randn(sizes, device=device).to(dtype)
    state, cells = make(batch, width), make(batch, width)
    weights = [make(4 * width, inner) / 4, make(4 * width, width) / 4]
    biases = random.choice([[None, None], [make(4 * width), make(4 * width)]])
    input = make(batch, inner)
    gates = [input @ weights[0].t(), state @ weights[1].t()]
    wide = [tensor if tensor is None else tensor.float() for tensor in [*gates, cells, *biases]]
    whole = wide[0] + wide[1] + (0 if biases[0] is None else wide[3] + wide[4])
    parts = whole.chunk(4, 1)
    opened = torch.cat([parts[0].sigmoid(), parts[1].sigmoid(), parts[2].tanh(), parts[3].sigmoid()], 1)
    if dtype == torch.float32:
        expected = torch.lstm_cell(input, (state, cells), *weights, *biases)
    else:
        i, f, g, o = opened.chunk(4, 1)
        after = f * wide[2] + i * g
        expected = [o * after.tanh(), after]
    expected = [one.to(dtype) for one in [*expected, opened]]
    check.compare("_thnn_fused_lstm_cell", [*gates, cells, *(Optional(None, bias) for bias in biases)], expected,
                  NEAR[dtype], of="cuda")


def check_layers(check, device):
    if device != "cpu":
        return
    mode = random.randrange(4)
    steps, batch, inner, width = shape(4, 6)
    layers, both, with_bias, batch_first = random.randint(1, 2), random.random() < 0.5, random.random() < 0.5, False
    projected = random.randint(1, width - 1) if mode == 2 and width > 1 and random.random() < 0.5 else 0
    options = dict(bias=with_bias, num_layers=layers, bidirectional=both)
    kinds = [lambda **how: torch.nn.RNN(inner, width, nonlinearity="relu", **how),
             lambda **how: torch.nn.RNN(inner, width, nonlinearity="tanh", **how),
             lambda **how: torch.nn.LSTM(inner, width, proj_size=projected, **how),
             lambda **how: torch.nn.GRU(inner, width, **how)]
    blocks = layers * (2 if both else 1)
    hidden, cells = torch.randn(blocks, batch, projected or width), torch.randn(blocks, batch, width)
    states = (hidden, cells) if mode == 2 else hidden
    lengths = []
    if random.random() < 0.5:
        sizes = sorted((random.randint(1, batch) for _ in range(steps)), reverse=True)
        sizes[0] = batch
        input = torch.nn.utils.rnn.PackedSequence(torch.randn(sum(sizes), inner), torch.tensor(sizes))
        lengths = sizes
    else:
        batch_first = random.random() < 0.5
        input = torch.randn([batch, steps, inner] if batch_first else [steps, batch, inner])
    network = kinds[mode](batch_first=batch_first, **options)
    with torch.no_grad():
        output, after = network(input, states)
    expected = [output.data if lengths else output, *(after if mode == 2 else [after, torch.empty(0)])]
    if batch_first:
        expected[0] = expected[0].transpose(0, 1).contiguous().transpose(0, 1)
    weights = [weight.data for block in network.all_weights for weight in block]
    each = len(network.all_weights[0])
    check.compare(
        "_cudnn_rnn",
        [input.data if lengths else input, ("tensors", weights), Int(each), None, hidden,
         Optional(None, cells if mode == 2 else None), Int(mode), Int(width), Int(projected), Int(layers), batch_first,
         0.0, False, both, lengths, None],
        expected, 1e-5, results=5, of="cuda")


def check_layer_on_cpu(check, device):
    if device != "cpu":
        return
    steps, batch, inner, width = (random.randint(1, 6) for _ in range(4))
    has_biases, reverse = random.random() < 0.7, random.random() < 0.5
    weights = [torch.randn(4 * width, inner), torch.randn(4 * width, width)]
    biases = [torch.randn(4 * width), torch.randn(4 * width)] if has_biases else [torch.zeros(4 * width)] * 2
    operands = [torch.randn(steps, batch, inner), *weights, *biases, torch.randn(1, batch, width),
                torch.randn(1, batch, width)]
    expected = torch.ops.aten.mkldnn_rnn_layer(
        *operands, reverse, [], 2, width, 1, has_biases, False, False, False)
    check.compare("mkldnn_rnn_layer",
                  [*operands, reverse, [], Int(2), Int(width), Int(1), has_biases, False, False, False], expected[:3],
                  1e-5, results=4)


FAMILIES = [check_cell, check_layers, check_layer_on_cpu]
