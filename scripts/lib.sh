# Shared by the scripts in this folder: messages, set-up of a bare machine, versions of tools.
# Sourced, not run; leaves the caller in the repository's root.
# shellcheck shell=bash

set -euo pipefail
export LC_ALL=C.UTF-8
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

# Tools whose version matters are installed here if the system has another version.
readonly tools_dir="$root/build/tools"
readonly clang_format_version=14.0.6
readonly cmake_version=3.31.10
readonly cmake_minimum=3.25
# The first with DLPack 1.0 is 2.1.
readonly numpy_version=2.2.6
readonly cffi_version=2.0.0
readonly pycparser_version=2.23

say() { printf '%s\n' "$*"; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# version_at_least HAVE WANTED
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# What each need is: found by a command or a file, and the Debian package that brings it.
need_is_met() {
  case "$1" in
    gtest) [ -e /usr/include/gtest/gtest.h ] ;;
    gmock) [ -e /usr/include/gmock/gmock.h ] ;;
    pip) python3 -m pip --version >/dev/null 2>&1 ;;
    *) have "$1" ;;
  esac
}
package_of() {
  case "$1" in
    ninja) echo ninja-build ;;
    gtest) echo libgtest-dev ;;
    gmock) echo libgmock-dev ;;
    pip) echo python3-pip ;;
    g++) echo g++ ;;
    *) echo "$1" ;;
  esac
}

# need NAME…: installs what is missing through apt, or prints what to install.
need() {
  local name packages=()
  for name in "$@"; do
    need_is_met "$name" || packages+=("$(package_of "$name")")
  done
  [ ${#packages[@]} -eq 0 ] && return
  have apt-get || fail "missing: ${packages[*]} (names of Debian packages); install them and run this again"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    have sudo || fail "missing: ${packages[*]}; run this as root, or install them with apt-get"
    as_root=(sudo)
  fi
  say "installing ${packages[*]}"
  # Stages that run side by side install one after the other: apt-get fails while another one runs. Its own option waits
  # for programs that are not ours.
  mkdir -p "$root/build"
  (
    flock 9
    if [ -z "${apt_updated:-}" ]; then
      "${as_root[@]}" apt-get update -qq
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends "${packages[@]}" >/dev/null
  ) 9>"$root/build/apt.lock"
  apt_updated=1
  for name in "$@"; do
    need_is_met "$name" || fail "$name is still missing after installing $(package_of "$name")"
  done
}

need_cargo() {
  have cargo || fail "cargo is missing; install Rust from https://rustup.rs and run this again"
  need gcc
}

# need_component NAME: a part of the Rust toolchain that is a subcommand of cargo.
need_component() {
  cargo "$1" --version >/dev/null 2>&1 && return
  local component="$1"
  [ "$1" = fmt ] && component=rustfmt
  have rustup || fail "cargo $1 is missing, and there is no rustup to add it"
  rustup component add "$component"
}

# The path of a Python package's program at a pinned version, installed beside the build.
pinned() { # pinned PACKAGE VERSION PROGRAM
  local folder="$tools_dir/$1-$2"
  if [ ! -e "$folder/$3" ]; then
    need pip >&2
    say "installing $1 $2 into $folder" >&2
    python3 -m pip install --quiet --root-user-action=ignore --disable-pip-version-check --no-deps --target "$folder" "$1==$2" >&2
  fi
  printf '%s\n' "$folder/$3"
}

# need_cmake: a cmake that knows workflow presets, first on PATH. Ninja everywhere: a machine
# without cmake has no make either.
need_cmake() {
  need g++ ninja pkg-config
  export CMAKE_GENERATOR=Ninja
  if ! have cmake; then need cmake; fi
  local version
  version="$(cmake --version | sed -n '1s/.* //p')"
  version_at_least "$version" "$cmake_minimum" && return
  local program
  program="$(pinned cmake "$cmake_version" cmake/data/bin/cmake)"
  PATH="$(dirname "$program"):$PATH"
  export PATH
}

# clang_format: the program at the version that the committed sources were formatted with.
clang_format() {
  if have clang-format && clang-format --version | grep -q "version ${clang_format_version%%.*}\."; then
    command -v clang-format
  else
    pinned clang-format "$clang_format_version" clang_format/data/bin/clang-format
  fi
}

# Settings of the person at the keyboard must not decide what the tests see.
clean_environment() {
  unset NVTX_INJECTION64_PATH CUDA_LAUNCH_BLOCKING TORCH_ALLOW_TF32_CUBLAS_OVERRIDE NVIDIA_TF32_OVERRIDE
  unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF PYTORCH_NO_CUDA_MEMORY_CACHING
  local name
  for name in "${!SCONCE_@}"; do
    # Where tests find models of PyTorch is not a setting of the library.
    [ "$name" = SCONCE_TEST_MODELS ] || unset "$name"
  done
}

# The files of the repository that end in one of the given endings.
tracked() {
  local patterns=() ending
  for ending in "$@"; do patterns+=("*.$ending"); done
  git ls-files --cached --others --exclude-standard -- "${patterns[@]}"
}

# The tests of a CMake build tree, one a line: name, program, arguments, separated by tabs. Without those
# that only compile, and without disabled ones.
test_commands() {
  ctest --test-dir "$1" --show-only=json-v1 | python3 -c '
import json, sys
for test in json.load(sys.stdin)["tests"]:
    labels = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
    disabled = any(p["name"] == "DISABLED" and p["value"] for p in test.get("properties", []))
    if ["compiles"] in labels or disabled:
        continue
    if "command" not in test:
        sys.exit(test["name"] + " has not been built")
    print(test["name"], *test["command"], sep="\t")'
}
