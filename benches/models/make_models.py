#!/usr/bin/env python3
"""Compiles small models with PyTorch, as any user would, and records what PyTorch's own runtime returns for them.

    make_models.py FOLDER [--device cuda|cpu] [NAME…]

Writes NAME.pt2 (the package), NAME.json (types, shapes and strides of inputs and outputs, the seed, PyTorch's
microseconds a call) and NAME.bin (the inputs' and then the outputs' elements), which check_models.py and the tests
of libsconce_torch read. Names of models for the CPU begin with cpu_. Without names it makes all: those in FIXTURES,
then those in MORE, of which some need torchvision or transformers and are skipped without, and for the CPU those in
FROZEN, of which one needs torchao: their weights are packed for oneDNN when they are compiled.

Each model is compiled in one process and run in another, since a process that has compiled one does not load it as a
program does. On a machine whose C++ compiler links libstdc++ statically, set CXX to one that does not.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

SEED = 42
FIXTURES = ("mlp", "encoder", "conv", "two", "dropout", "llama")
MORE = ("vision", "sequence", "half", "equations")
FROZEN = (
    "frozen_mlp", "frozen_images", "frozen_half", "frozen_lstm", "integers", "dynamic_integers", "four_bits")
# Models for the CPU use vectors of 256 bits, which more machines have than those of 512.
CPU_BITS = 256


def mlp(torch):
    nn = torch.nn
    layers = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 64), nn.Softmax(-1))
    return layers, (torch.randn(32, 256),), ({0: torch.export.Dim("batch", min=2, max=64)},)


def encoder(torch):
    layer = torch.nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), (torch.randn(4, 64, 128),), None


def conv(torch):
    nn = torch.nn
    layers = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1, groups=4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10),
    )
    return layers, (torch.randn(4, 3, 64, 64),), None


def two(torch):
    class Two(torch.nn.Module):
        """Two inputs of two types, three outputs of two types."""

        def __init__(self):
            super().__init__()
            self.rows = torch.nn.Embedding(100, 32)

        def forward(self, numbers, weights):
            rows = self.rows(numbers)
            products = torch.bmm(rows, weights)
            return products.amax(-1), (products > 0).sum((1, 2)), rows

    return Two(), (torch.randint(0, 100, (6, 9)), torch.randn(6, 32, 7)), None


def dropout(torch):
    class Dropout(torch.nn.Module):
        """Random numbers alone: every bit of the result depends on the generator."""

        def forward(self, x):
            return torch.nn.functional.dropout(x, 0.3, training=True) + torch.rand_like(x)

    return Dropout(), (torch.randn(100, 77),), None


def llama(torch):
    from transformers import LlamaConfig, LlamaForCausalLM

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = LlamaForCausalLM(LlamaConfig(
                hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
                num_key_value_heads=2, vocab_size=1000))

        def forward(self, numbers):
            return self.model(numbers, use_cache=False)[0]

    return Logits(), (torch.randint(0, 1000, (2, 48)),), None


def vision(torch):
    from torchvision.models import resnet18

    return resnet18(), (torch.randn(2, 3, 96, 96),), None


def sequence(torch):
    class Sequence(torch.nn.Module):
        """Attention over a batch and a length that are both dynamic."""

        def __init__(self):
            super().__init__()
            self.inward, self.outward = torch.nn.Linear(64, 192), torch.nn.Linear(64, 64)

        def forward(self, x):
            batch, length, _ = x.shape
            parts = self.inward(x).view(batch, length, 3, 4, 16).permute(2, 0, 3, 1, 4)
            seen = torch.nn.functional.scaled_dot_product_attention(*parts.unbind(0), is_causal=True)
            return self.outward(seen.transpose(1, 2).reshape(batch, length, 64)) + x

    dims = {0: torch.export.Dim("batch", min=2, max=16), 1: torch.export.Dim("length", min=2, max=512)}
    return Sequence(), (torch.randn(3, 40, 64),), (dims,)


def half(torch):
    module, inputs, dims = encoder(torch)
    return module.half(), tuple(x.half() for x in inputs), dims


def equations(torch):
    class Equations(torch.nn.Module):
        """Factors and solutions: functions of the C ABI, and operators that are called by name."""

        def forward(self, x, b):
            linalg = torch.linalg
            definite = x @ x.mT + 4 * torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
            lower = linalg.cholesky_ex(definite)[0]
            q, r = linalg.qr(x)
            by_triangles = torch.cholesky_solve(b, lower) + torch.cholesky_inverse(lower) @ b
            by_factors = linalg.solve_ex(definite, b)[0] + linalg.inv_ex(definite)[0] @ b
            by_rows = linalg.solve_triangular(r, q.mT @ b, upper=True)
            return by_triangles, by_factors, by_rows, linalg.det(definite / 8), linalg.slogdet(definite)[1]

    x = torch.randn(3, 40, 40) / 4 + 2 * torch.eye(40)
    return Equations(), (x, torch.randn(3, 40, 5)), None


def frozen_mlp(torch):
    nn = torch.nn
    layers = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 96), nn.ReLU(), nn.Linear(96, 10))
    return layers, (torch.randn(32, 64),), None


class Residual:
    """A block as ResNet has them, with sums and activations that the compiler fuses into convolutions."""

    def __new__(cls, torch, inputs, outputs, stride=1):
        nn = torch.nn

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.norm = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
                self.second, self.aside = nn.Conv2d(outputs, outputs, 3, 1, 1), nn.Conv2d(inputs, outputs, 1, stride)

            def forward(self, x):
                return torch.relu(self.second(torch.relu(self.norm(self.first(x)))) + self.aside(x))

        return Block()


def frozen_images(torch):
    nn = torch.nn
    layers = nn.Sequential(
        nn.Conv2d(3, 32, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(2), Residual(torch, 32, 32), Residual(torch, 32, 64, 2),
        nn.Conv2d(64, 64, 3, 1, 1, groups=64), nn.Hardswish(), nn.Conv2d(64, 64, 3, 1, 1, groups=4), nn.SiLU(),
        nn.ConvTranspose2d(64, 32, 2, 2), nn.LeakyReLU(0.1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
    )
    return layers, (torch.randn(2, 3, 64, 64),), None


def frozen_half(torch):
    class Half(torch.nn.Module):
        """Weights of bfloat16 between numbers of float32."""

        def __init__(self):
            super().__init__()
            self.layers = frozen_mlp(torch)[0].bfloat16()

        def forward(self, x):
            return self.layers(x.bfloat16()).float()

    return Half(), (torch.randn(32, 64),), None


def frozen_lstm(torch):
    class Lstm(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.LSTM(24, 40, 2, batch_first=True, bidirectional=True)

        def forward(self, x):
            return self.layers(x)[0]

    return Lstm(), (torch.randn(3, 7, 24),), None


def integers(torch):
    nn = torch.nn
    layers = nn.Sequential(
        nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), Residual(torch, 16, 32, 2), nn.Conv2d(32, 32, 3, 1, 1, groups=4),
        nn.Hardswish(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32), nn.ReLU(),
        nn.Linear(32, 10),
    )
    return layers, (torch.randn(2, 3, 32, 32),), None


def dynamic_integers(torch):
    return frozen_mlp(torch)


def four_bits(torch):
    class Layer(torch.nn.Module):
        """Weights of 4 bits with a scale and a zero for each group of inputs."""

        def __init__(self, inputs, outputs, group):
            super().__init__()
            bits = torch.randint(0, 16, (outputs, inputs), dtype=torch.int32)
            self.register_buffer("packed", torch.ops.aten._convert_weight_to_int4pack_for_cpu(bits, 1))
            self.register_buffer("scales", (torch.rand(inputs // group, outputs, 2) * 0.1 - 0.05).bfloat16())
            self.group = group

        def forward(self, x):
            return torch.ops.aten._weight_int4pack_mm_for_cpu(x, self.packed, self.group, self.scales)

    class Rows(torch.nn.Module):
        """Rows that are quantized on the way."""

        def __init__(self, inputs, outputs, group):
            super().__init__()
            bits = torch.randint(0, 256, (outputs, inputs // 2), dtype=torch.uint8)
            scales = torch.rand(outputs, inputs // group) * 0.1
            packed = torch.ops.aten._dyn_quant_pack_4bit_weight(bits, scales, None, group, inputs, outputs)
            self.register_buffer("packed", packed)
            self.sizes = group, inputs, outputs

        def forward(self, x):
            return torch.ops.aten._dyn_quant_matmul_4bit(x, self.packed, *self.sizes)

    class FourBits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.last = Layer(128, 96, 32), Layer(96, 64, 32), Rows(64, 48, 32)

        def forward(self, x):
            return self.last(self.second(torch.relu(self.first(x.bfloat16()))).float())

    return FourBits(), (torch.randn(5, 128),), None


def with_integers(torch, module, inputs, is_dynamic):
    """The model with weights and sums of 8-bit integers, by torchao's quantizer for x86."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (
        X86InductorQuantizer, get_default_x86_inductor_quantization_config)

    quantizer = X86InductorQuantizer()
    quantizer.set_global(get_default_x86_inductor_quantization_config(is_dynamic=is_dynamic))
    graph = torch.export.export(module, inputs, strict=True).module(check_guards=False)
    prepared = prepare_pt2e(graph, quantizer)
    prepared(*inputs)
    return convert_pt2e(prepared)


def made(name, device):
    """The model with its inputs, with the same weights in every process."""
    import torch

    torch.manual_seed(11)
    module, inputs, dims = globals()[name](torch)
    return torch, module.eval().to(device), tuple(x.to(device) for x in inputs), dims


def compile_model(folder, name, device):
    torch, module, inputs, dims = made(name, device)
    if device == "cpu":
        torch._inductor.config.cpp.simdlen = CPU_BITS
    torch._inductor.config.freezing = name in FROZEN
    with torch.no_grad():
        if name in ("integers", "dynamic_integers"):
            module = with_integers(torch, module, inputs, name == "dynamic_integers")
        exported = torch.export.export(module, inputs, dynamic_shapes=dims)
        torch._inductor.aoti_compile_and_package(exported, package_path=str(path_of(folder, name, device, "pt2")))


def record_model(folder, name, device):
    torch, _, inputs, _ = made(name, device)
    described = lambda x: {"dtype": str(x.dtype).removeprefix("torch."), "shape": list(x.shape),
                           "stride": list(x.stride())}
    bytes_of = lambda x: x.contiguous().cpu().reshape(-1).view(torch.uint8).numpy().tobytes()
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    with torch.no_grad():
        model = torch._inductor.aoti_load_package(str(path_of(folder, name, device, "pt2")))
        torch.manual_seed(SEED)
        outputs = model(*inputs)
        outputs = [outputs] if torch.is_tensor(outputs) else list(outputs)
        wait()
        for calls in (50, 200):
            start = time.perf_counter()
            for _ in range(calls):
                model(*inputs)
            wait()
        call_us = (time.perf_counter() - start) / calls * 1e6
    path_of(folder, name, device, "bin").write_bytes(b"".join(map(bytes_of, [*inputs, *outputs])))
    text = {
        "name": path_of(folder, name, device, "pt2").stem, "torch": torch.__version__, "seed": SEED,
        "device": device, "inputs": [described(x) for x in inputs], "outputs": [described(x) for x in outputs],
        "torch_us_per_call": call_us,
    }
    path_of(folder, name, device, "json").write_text(json.dumps(text, indent=1))


def path_of(folder, name, device, kind):
    return folder / f"{'cpu_' if device == 'cpu' else ''}{name}.{kind}"


def process(folder, name, device, phase):
    words = [sys.executable, __file__, str(folder), name, "--device", device, "--phase", phase]
    return subprocess.run(words, capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", choices=[[], *FIXTURES, *MORE, *FROZEN])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--phase", choices=("compile", "record"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.phase:
        phase = compile_model if arguments.phase == "compile" else record_model
        for name in arguments.names:
            phase(arguments.folder, name, arguments.device)
        return
    failures = 0
    for name in arguments.names or FIXTURES + MORE + (FROZEN if arguments.device == "cpu" else ()):
        start = time.perf_counter()
        for phase in ("compile", "record"):
            done = process(arguments.folder, name, arguments.device, phase)
            if done.returncode != 0:
                break
        why = (done.stderr.strip().splitlines() or ["no message"])[-1]
        seconds = f"{time.perf_counter() - start:.0f} s"
        if done.returncode == 0:
            size = os.path.getsize(path_of(arguments.folder, name, arguments.device, "pt2")) // 1024
            print(f"{name}: made in {seconds}, {size} KiB", flush=True)
        elif why.startswith("ModuleNotFoundError"):
            print(f"{name}: skipped, {why}", flush=True)
        else:
            failures += 1
            print(f"{name}: FAILED in {phase}: {why}", flush=True)
    raise SystemExit(1 if failures else 0)


if __name__ == "__main__":
    main()
