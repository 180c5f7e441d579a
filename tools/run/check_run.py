"""Runs sconce-run on models of the CPU: check_run.py SCONCE-RUN MATRIX.pt2 CUDA.pt2

MATRIX.pt2 is the model that the tests build: it doubles a matrix of F32 with 2 to 64 rows of 256 numbers. CUDA.pt2 says
that it is a model of CUDA, and is described without a GPU. A model that
PyTorch compiled, cpu_mlp.pt2 with its recorded values, comes from the folder that SCONCE_TEST_MODELS names, or from
../shared/models; without it this part is left out, with words.
"""
import array
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def npy(path, shape, values, order=False):
    header = f"{{'descr': '<f4', 'fortran_order': {order}, 'shape': {shape}, }}"
    header += " " * ((-(len(header) + 11)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values)


def refused(program, arguments, words):
    run = subprocess.run([program, *arguments], capture_output=True, text=True)
    assert run.returncode == 1 and words in run.stderr, (arguments, run.returncode, run.stderr)


def floats(path, count):
    """The last numbers of a file."""
    return array.array("f", pathlib.Path(path).read_bytes()[-4 * count :])


def measured(program, model, given, returned, words):
    """Runs a model with all that is printed."""
    arguments = [model, "--input", given, "--output", returned, "--seed", "42", "--repeat", "50", "--threads", "3"]
    run = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    for part in ("first result after", "50 calls from 3 threads", *words):
        assert part in run.stdout, (part, run.stdout)


def check_built(program, model, place):
    """A model that the tests build."""
    given, returned = os.path.join(place, "x.npy"), os.path.join(place, "y.npy")
    values = array.array("f", (at / 8 for at in range(3 * 256)))
    npy(given, (3, 256), values.tobytes())
    memory = "model memory: constants 0 bytes, tensors of a run 3072 at most"
    measured(program, model, given, returned, ["output 0: [3, 256]", memory])
    written = pathlib.Path(returned).read_bytes()
    assert b"'shape': (3, 256, )" in written, written[:128]
    assert floats(returned, 3 * 256) == array.array("f", (2 * value for value in values))
    # The clock may start before the process.
    earlier = str(time.monotonic_ns() - 7_000_000_000)
    run = subprocess.run([program, model, "--input", given, "--begin", earlier], capture_output=True, text=True, check=True)
    first = float(run.stdout.split("first result after ")[1].split(" ms")[0])
    assert 7000 <= first < 60000, run.stdout
    described = subprocess.run([program, model, "--describe"], capture_output=True, text=True, check=True).stdout
    for words in ("input 0: x float32[2..64, 256] on cpu", "output 0: doubled float32[2..64, 256] on cpu", "memory: "):
        assert words in described, described
    refused(program, [model], "0 inputs were passed; the model has 1: name a file for each with --input")
    refused(program, [model, "--input", given, "--graph"], "no graphs")
    refused(program, [model, "--input", given, "--output", returned, "--output", returned], "1 outputs, and 2 were named")
    refused(program, [model, "--input", given, "--calls", "0"], "--calls takes at least 1")
    subprocess.run([program, model, "--input", given, "--output", "-", "--calls", "3"], check=True, capture_output=True)
    assert not os.path.exists("-")
    # In column-major order, which the model does not take as it is.
    turned = array.array("f", (values[row * 256 + column] for column in range(256) for row in range(3)))
    npy(given, (3, 256), turned.tobytes(), order=True)
    run = [program, model, "--input", given, "--output", returned, "--calls", "2"]
    subprocess.run(run, check=True, capture_output=True)
    assert floats(returned, 3 * 256) == array.array("f", (2 * value for value in values))
    npy(given, (65, 256), bytes(65 * 4 * 256))
    refused(program, [model, "--input", given], "float32[65, 256] on cpu; the model takes float32[2..64, 256]")
    npy(given, (4, 256), values.tobytes())
    refused(program, [model, "--input", given], "another number of elements")
    for other in (b"", b"nothing", b"nothing that NumPy wrote"):
        pathlib.Path(given).write_bytes(other)
        refused(program, [model, "--input", given], "x.npy: is no .npy file")
    refused(program, [model, "--input", "/nonexistent.npy"], "cannot be opened: No such file")


def check_described(program, model):
    """A model that cannot be loaded: what it is, and why not."""
    described = subprocess.run([program, model, "--describe"], capture_output=True, text=True, check=True).stdout
    for words in ("compiled for: cuda", "input 0: float32[2..64, 256] on cuda", "AOTI_COMPUTE_CAPABILITY: 90",
                  "not loaded here: ", "the devices of this process are simulated"):
        assert words in described, described
    refused(program, [model], "the devices of this process are simulated")
    refused(program, ["/nonexistent.pt2", "--describe"], "could not be read")


def check_recorded(program, folder, place):
    """A model of PyTorch, within 1e-5 of what PyTorch returned."""
    model, recorded = folder / "cpu_mlp.pt2", (folder / "cpu_mlp.bin").read_bytes()
    given, returned = os.path.join(place, "x.npy"), os.path.join(place, "y.npy")
    split = 32 * 256 * 4
    npy(given, (32, 256), recorded[:split])
    measured(program, str(model), given, returned, ["[32, 256]", "[32, 64]"])
    ours, theirs = floats(returned, 32 * 64), array.array("f", recorded[split:])
    assert max(abs(a - b) for a, b in zip(ours, theirs)) <= 1e-5 * max(theirs)


def main():
    program, built, of_cuda = sys.argv[1:]
    assert "usage" in subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    refused(program, [], "no model was named")
    refused(program, ["x.pt2", "--repeat", "-3"], "--repeat takes a number")
    refused(program, ["/nonexistent.pt2"], "could not be read")
    refused(program, [""], "no model was named")
    with tempfile.TemporaryDirectory() as place:
        check_built(program, built, place)
        check_described(program, of_cuda)
        shared = pathlib.Path(__file__).resolve().parents[3] / "shared" / "models"
        folder = pathlib.Path(os.environ.get("SCONCE_TEST_MODELS") or shared)
        if (folder / "cpu_mlp.pt2").exists():
            check_recorded(program, folder, place)
        else:
            print("left out: there is no cpu_mlp.pt2 in", folder, "; SCONCE_TEST_MODELS names another folder")
    print("ok")


main()
