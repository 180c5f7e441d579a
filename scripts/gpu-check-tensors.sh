# The tensors part of scripts/gpu-check, which sources this: random operations, views, texts and random numbers compared
# with PyTorch's, and the speed of small and large tensors beside it. Takes about three minutes on a GPU. Figures go to
# $out/tensors.txt, everything else to $out/tensors.log.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${lib:?}" "${out:?}" "${work:?}" "${backend:?}"

tensors_raw="$work/tensors"
mkdir -p "$tensors_raw"

# What the project promises. Nanoseconds of the host; parts of PyTorch's time; parts of a copy's bandwidth.
readonly most_empty_ns=120 most_view_ns=40 most_small_of_torch=0.5 most_item_of_torch=0.6 least_of_copy=0.95
readonly least_transposed_of_torch=3
readonly random_tensor_cases=10000 random_views=5000 random_texts=3000 random_fills=100

tensor_figure() { figure "$tensors_raw/$1.txt" "$2"; }

# beside_torch NAME SCRIPT COUNT SECONDS: runs a comparison, whose last line says how it ended.
beside_torch() {
  local log="$tensors_raw/$2.txt" status=0
  SCONCE_LIBRARY="$lib/libsconce.so" timeout "$4" python3 "$from/bench/tensors/$2.py" "$3" >"$log" 2>&1 </dev/null ||
    status=$?
  row "$1 against PyTorch" "$([ $status -eq 0 ] && echo ok || echo FAILED)" "$(tail -n 1 "$log" | sed 's/^[a-z ]* //')" - -
}

tensors_against_torch() {
  if [ "$backend" != cuda ] || ! python3 -c 'import torch' 2>/dev/null; then
    row "tensors against PyTorch" skipped "no GPU or PyTorch" - -
    return
  fi
  beside_torch tensors check_torch $random_tensor_cases 400
  beside_torch views check_torch_views $random_views 200
  beside_torch texts check_torch_text $random_texts 100
  beside_torch "random numbers" check_torch_random $random_fills 100
}

# The judgement of a figure, from its key, its unit, its value, PyTorch's and that of a copy.
judge_tensor() {
  awk -v key="$1" -v unit="$2" -v value="${3:--}" -v peer="${4:--}" -v copy="${5:--}" \
    -v empty=$most_empty_ns -v view=$most_view_ns -v small=$most_small_of_torch -v item=$most_item_of_torch \
    -v least=$least_of_copy -v transposed=$least_transposed_of_torch '
    function number(text) { return text ~ /^[0-9.]+$/ }
    BEGIN {
      if (!number(value)) { print "FAILED"; exit }
      if (key ~ /^tensor_empty$/) { print (value <= empty ? "ok" : "over"); exit }
      if (key ~ /^tensor_(view|select)$/) { print (value <= view ? "ok" : "over"); exit }
      if (!number(peer)) { print "ok"; exit }
      if (key == "tensor_item") { print (value <= item * peer ? "ok" : "over"); exit }
      if (unit == "ns") { print (value <= small * peer ? "ok" : "over"); exit }
      if (unit == "us") { print (value <= 1.03 * peer ? "ok" : "slower"); exit }
      if (key == "tensor_transposed_cast") { print (value >= transposed * peer ? "ok" : "short"); exit }
      if (key ~ /^tensor_(add|gelu|sum)/ && value < least * copy) { print "short"; exit }
      print (value >= 0.97 * peer ? "ok" : "slower")
    }'
}

tensor_rows() {
  local key value unit peer copy result ratio
  copy="$(tensor_figure sconce tensor_copy)"
  while read -r key value unit; do
    [ "$key" != "#" ] || continue
    peer="$(tensor_figure torch "$key")"
    result="$(judge_tensor "$key" "$unit" "$value" "$peer" "$copy")"
    [ "$backend" = cuda ] || result=rehearsed
    # Above 1 the library is the faster one.
    ratio="$(awk -v a="${value:-0}" -v b="${peer:-0}" -v unit="$unit" 'BEGIN {
      if (a + 0 > 0 && b + 0 > 0) printf "%.2f x", unit == "GB/s" ? a / b : b / a; else print "-" }')"
    row "$key" "$result" "$value $unit" "${peer:--}" "$ratio"
  done <"$tensors_raw/sconce.txt"
}

tensor_checks() {
  local file
  tensors_against_torch
  both_sides tensors sconce_tensor_bench tensors "$tensors_raw"
  tensor_rows
  cat "$tensors_raw/sconce.txt" >"$out/tensors.txt" 2>/dev/null || true
  for file in "$tensors_raw"/*; do
    echo "== $(basename "$file")"
    cat "$file"
  done >"$out/tensors.log"
}
