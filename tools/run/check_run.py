"""Runs sconce-run on a recorded model of the CPU: check_run.py SCONCE-RUN [FOLDER]. Exit status 77: there are no models."""
import array
import os
import subprocess
import sys
import tempfile


def npy(path, shape, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * ((-(len(header) + 11)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values)


def refused(program, arguments, words):
    run = subprocess.run([program, *arguments], capture_output=True, text=True)
    assert run.returncode == 1 and words in run.stderr, (arguments, run.returncode, run.stderr)


def main():
    program = sys.argv[1]
    folder = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("SCONCE_TEST_MODELS", "")
    model = os.path.join(folder, "cpu_mlp.pt2")
    assert "usage" in subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    refused(program, [], "no model was named")
    refused(program, ["x.pt2", "--repeat", "-3"], "--repeat takes a number")
    refused(program, ["/nonexistent.pt2"], "could not be read")
    if not os.path.exists(model):
        print("skipped: there is no", model, "; set SCONCE_TEST_MODELS")
        sys.exit(77)
    recorded = open(os.path.join(folder, "cpu_mlp.bin"), "rb").read()
    split = 32 * 256 * 4
    with tempfile.TemporaryDirectory() as place:
        given, returned = os.path.join(place, "x.npy"), os.path.join(place, "y.npy")
        npy(given, (32, 256), recorded[:split])
        arguments = [model, "--input", given, "--output", returned, "--seed", "42", "--repeat", "50", "--threads", "3"]
        run = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
        for words in ("[32, 256]", "[32, 64]", "first result after", "50 calls from 3 threads"):
            assert words in run.stdout, run.stdout
        written = open(returned, "rb").read()
        assert b"'shape': (32, 64, )" in written, written[:128]
        ours, theirs = array.array("f", written[-32 * 64 * 4 :]), array.array("f", recorded[split:])
        assert max(abs(a - b) for a, b in zip(ours, theirs)) <= 1e-5 * max(theirs)
        npy(given, (33, 256), recorded[:split])
        refused(program, [model, "--input", given], "another number of elements")
        open(given, "wb").write(b"nothing")
        refused(program, [model, "--input", given], "x.npy")
        refused(program, [model], "0 inputs were passed; the model has 1")
    print("ok")


main()
