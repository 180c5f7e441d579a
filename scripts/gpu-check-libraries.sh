# The libraries part of scripts/gpu-check, which sources this: products, convolutions and transforms
# compared with PyTorch's and with their speed. Takes about two minutes on a GPU. The table goes to
# $out/libraries.txt, everything else to $out/libraries.log.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${lib:?}" "${out:?}" "${work:?}" "${backend:?}"

libraries_raw="$work/libraries"
mkdir -p "$libraries_raw"

# What the project promises: nanoseconds for a handle when nothing changed, and over the bare call of cuFFT,
# in bursts that no queue holds back and in sustained calls.
readonly most_handle_ns=30 most_over_bare_ns=100
# A product's call over cublasSgemm's own.
readonly most_over_blas_ns=1000
# What is compared reads `slower` when it takes more than PyTorch's and five per cent; that fails nothing.
readonly most_of_peer=1.05
readonly shapes_against_torch=200

libraries_figure() { figure "$libraries_raw/$1.txt" "$2"; }

# libraries_row CHECK FIGURE PEER UNIT [MOST]: judged against a bound, where there is one, or else the peer.
libraries_row() {
  local result
  result="$(awk -v value="${2:--}" -v most="${5:-}" -v peer="${3:--}" -v slack=$most_of_peer '
    BEGIN {
      if (value !~ /^-?[0-9.]+$/) print "FAILED"
      else if (most != "") print (value + 0 > most + 0 ? "over" : "ok")
      else print (peer ~ /^[0-9.]+$/ && value + 0 > peer * slack ? "slower" : "ok")
    }')"
  [ "$backend" = cuda ] || result=rehearsed
  row "$1" "$result" "${2:--} $4" "${3:--}" "$(awk -v a="${2:-0}" -v b="${3:-0}" 'BEGIN {
    if (a + 0 > 0 && b + 0 > 0) printf "%.2f x", b / a; else print "-" }')"
}

libraries_against_torch() {
  local log="$libraries_raw/against-torch.txt" status=0 line name
  if [ "$backend" != cuda ]; then
    row "libraries against PyTorch" skipped "no GPU" - -
    return
  fi
  timeout 280 python3 "$from/bench/libraries/check_torch.py" "$lib/libsconce.so" \
    "$from/include/sconce/c" $shapes_against_torch >"$log" 2>&1 </dev/null || status=$?
  if [ $status -eq 77 ]; then
    row "libraries against PyTorch" skipped "$(head -n 1 "$log")" - -
    return
  fi
  while IFS= read -r line; do
    name="${line%% *} $(awk '{ print $2, ($3 ~ /^[a-z]/ ? $3 : "") }' <<<"$line")"
    row "${name% }" "$([[ $line == *" 0 wrong"* ]] && echo ok || echo FAILED)" \
      "$(grep -o '[0-9]* equal' <<<"$line")" "$(grep -o '[0-9]* close' <<<"$line")" \
      "$(grep -o '[0-9]* wrong' <<<"$line")"
  done < <(grep ' shapes: ' "$log")
  [ $status -eq 0 ] || row "libraries against PyTorch" FAILED "status $status" - -
}

# The example that prints what TF32 costs and gains; it fails by itself where the switch does nothing.
libraries_tf32() {
  local log="$libraries_raw/tf32.txt" status=0
  timeout 200 "$work/bin/tf32_table" >"$log" 2>&1 </dev/null || status=$?
  row "TF32 table" "$([ $status -eq 0 ] && echo ok || echo FAILED)" "status $status" - -
  status=0
  (cd "$from/golden" && timeout 100 "$work/bin/spectrogram" chirp.wav) >"$libraries_raw/spectrogram.txt" 2>&1 \
    </dev/null || status=$?
  row "spectrogram" "$([ $status -eq 0 ] && echo ok || echo FAILED)" "status $status" - -
}

# libraries_over SIDE KEY BARE: what a side's call takes beyond the library's own.
libraries_over() {
  awk -v a="$(libraries_figure "$1" "$2")" -v b="$3" 'BEGIN { printf "%.0f", a - b }'
}

libraries_rows() {
  local key bare theirs most
  libraries_row blas_handle "$(libraries_figure sconce blas_handle)" "$(libraries_figure torch blas_handle)" ns \
    "$most_handle_ns"
  for key in fft_1024_sustained fft_65536_sustained fft_1024 fft_65536; do
    bare="$(libraries_figure sconce "bare_$key")"
    [ -n "$bare" ] || continue
    theirs="$(libraries_over torch "$key" "$bare")"
    most="$most_over_bare_ns"
    # Two kernels of a larger transform keep the device longer than the host needs: it sets the pace.
    [ "$key" != fft_65536_sustained ] || most=
    libraries_row "over cuFFT: ${key#fft_}" "$(libraries_over sconce "$key" "$bare")" "$theirs" ns "$most"
  done
  bare="$(libraries_figure sconce bare_sgemm_64)"
  if [ -n "$bare" ]; then
    libraries_row "over cuBLAS: matmul 64" "$(libraries_over sconce matmul_64_call "$bare")" \
      "$(libraries_over torch matmul_64_call "$bare")" ns "$most_over_blas_ns"
  fi
  while read -r key _; do
    case "$key" in '#' | blas_handle) continue ;; esac
    # A bare call, which PyTorch does not make, shows how fast the host is.
    libraries_row "$key" "$(libraries_figure sconce "$key")" "$(libraries_figure torch "$key")" \
      "$(awk -v key="$key" '$1 == key { print $3 }' "$libraries_raw/sconce.txt")"
  done <"$libraries_raw/sconce.txt"
}

libraries_checks() {
  local started=$SECONDS file
  libraries_against_torch
  libraries_tf32
  both_sides libraries sconce_library_bench libraries "$libraries_raw"
  libraries_rows
  cat "$libraries_raw/tf32.txt" "$libraries_raw/against-torch.txt" >"$out/libraries.txt" 2>/dev/null || true
  echo "libraries part: $((SECONDS - started)) s" >>"$out/libraries.txt"
  for file in "$libraries_raw"/*; do
    echo "== $(basename "$file")"
    cat "$file"
  done >"$out/libraries.log"
  cat "$out/libraries.txt"
}
