# The models part of scripts/gpu-check, which sources this: compiled models of PyTorch, their results beside PyTorch's
# recorded ones, and what they cost beside PyTorch's own C++ loader. The models are those packaged with --models. Takes
# about three minutes on a GPU. Figures go to $out/models.txt.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${out:?}" "${work:?}" "${backend:?}" "${torch_paths:?}"

# What the project promises, as shares of PyTorch's loader. Of a call of a model that is not named it is that PyTorch's
# takes no less, of one thread and of 16; so of the device's memory.
readonly most_first_of_libtorch=0.6 most_resident_of_libtorch=0.4 most_memory_of_libtorch=1
declare -A most_call_of_libtorch=([mlp,calls]=0.5 [llama,calls]=0.6 [llama,graph]=0.15)

# model_row TEXT FIGURE UNIT PEER SHARE: a figure beside PyTorch's, which it may reach the share of.
model_row() {
  local result=ok ratio=-
  if [ -n "$4" ] && [ "$4" != - ]; then
    ratio="$(awk -v a="$2" -v b="$4" 'BEGIN { if (a + 0 > 0) printf "%.1f x", b / a; else print "-" }')"
    if [ -n "$5" ] && awk -v a="$2" -v b="$4" -v m="$5" 'BEGIN { exit !(a > b * m) }'; then result=over; fi
  fi
  row "$1" "$result" "$2 $3" "${4:--}" "$ratio"
}

models_checks() {
  local name way result difference first resident call memory other peer words=()
  if [ ! -d "$from/models" ]; then
    row "compiled models" skipped "no models" - -
    return
  fi
  # Models for CUDA need a GPU.
  if [ "$backend" != cuda ]; then
    words+=(--cpu)
  elif find_torch && compile_peer "$from/bench/models/libtorch.cpp" "$work/libtorch_models" >"$work/libtorch-build.txt"; then
    words+=(--libtorch "$work/libtorch_models")
  fi
  TORCH_PATHS="$torch_paths" timeout 400 python3 "$from/bench/models/check_models.py" \
    "$work/bin/sconce-run" "$from/models" "${words[@]}" >"$out/models.txt" 2>&1 || true
  while read -r name way result difference first resident call memory; do
    case "$name,$way" in "#"* | *,libtorch | *,libtorch_threads) continue ;; esac
    if [ "$result" != ok ]; then
      row "model $name, $way" FAILED "see models.txt" - -
      continue
    fi
    other=libtorch
    [ "$way" != threads ] || other=libtorch_threads
    read -r -a peer < <(awk -v name="$name" -v way="$other" '$1 == name && $2 == way && $3 == "ok" { print $5, $6, $7, $8 }' "$out/models.txt") || true
    model_row "model $name, $way" "$call" us "${peer[2]-}" "${most_call_of_libtorch[$name,$way]-1}"
    [ "$way" = calls ] || continue
    # A model of the CPU has no peer here, and takes nothing of the device.
    case "$name" in cpu_*) continue ;; esac
    model_row "model $name, first result" "$first" ms "${peer[0]-}" $most_first_of_libtorch
    model_row "model $name, resident" "$resident" MB "${peer[1]-}" $most_resident_of_libtorch
    model_row "model $name, device memory" "$memory" B "${peer[3]-}" $most_memory_of_libtorch
  done <"$out/models.txt"
}
