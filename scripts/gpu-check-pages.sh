# The pages part of scripts/gpu-check, which sources this after the memory part: recorded programs replayed with memory
# of pages, beside segments, PyTorch's expandable segments and the driver's pool, played for long, and PyTorch trained on
# pages. Takes some three minutes on a GPU. The table goes to $out/pages.txt, everything else to $out/pages.log.
# shellcheck shell=bash
# Set by gpu-check and by the memory part.
: "${from:?}" "${lib:?}" "${out:?}" "${work:?}" "${backend:?}" "${torch_paths:?}"

pages_raw="$work/pages"
mkdir -p "$pages_raw"

# pages_replays NAME PROGRAM [ARGUMENT…]: the replays of all recorded programs; NAME=VALUE before them in pages_conf.
pages_replays() {
  local name="$1" program="$2"
  shift 2
  : >"$pages_raw/$name.txt"
  [ -x "$program" ] || return 0
  env "${pages_conf[@]}" SCONCE_SIM_MEMORY=64G LD_LIBRARY_PATH="$torch_paths:$LD_LIBRARY_PATH" timeout 100 "$program" \
    "${memory_effort[@]}" "$@" --only replay "$work"/traces/*.csv >"$pages_raw/$name.txt" 2>>"$pages_raw/errors.txt" ||
    echo "$name: status $?" >>"$pages_raw/errors.txt"
}

pages_rows() {
  local key value segments peer limit most result
  while read -r key value _; do
    read -r limit most < <(target pages "$key") || continue
    segments="$(figure "$pages_raw/segments.txt" "$key")" peer="$(figure "$pages_raw/expandable.txt" "$key")"
    [ "$limit" = most ] || most="$(awk -v a="$segments" -v m="$most" 'BEGIN { print a * m }')"
    result="$(judged most "$most" "$value")"
    [ "$backend" = cuda ] || result=rehearsed
    row "pages: ${key#replay_}" "$result" "$value" "${peer:--}" "of ${segments:--}"
  done <"$pages_raw/pages.txt"
}

# Each program again and again, with what the passes before have left.
pages_soak() {
  local key value limit most seconds=100
  [ "$backend" = cuda ] || seconds=5
  if ! SCONCE_ALLOC_CONF=policy:pages SCONCE_SIM_MEMORY=64G timeout $((seconds + 100)) "$work/bin/sconce_memory_bench" \
    --soak "$seconds" "$work"/traces/*.csv >"$pages_raw/soak.txt" 2>>"$pages_raw/errors.txt"; then
    row "pages for long" FAILED "see pages.log" - -
  fi
  while read -r key value _; do
    read -r limit most < <(target pages "$key") || continue
    row "pages: $key" "$(judged "$limit" "$most" "$value")" "$value of $most" - -
  done < <(grep -v '^#' "$pages_raw/soak.txt")
}

pages_table() {
  local name
  printf '%-36s %12s %12s %12s %12s\n' measure pages segments expandable pool
  awk '$1 ~ /^replay_.*_(first|best|overhead)$/ { print $1 }' "$pages_raw/pages.txt" | while read -r key; do
    printf '%-36s' "$key"
    for name in pages segments expandable pool; do
      printf ' %12s' "$(figure "$pages_raw/$name.txt" "$key")"
    done
    printf '\n'
  done
}

pages_checks() {
  local traces="$1" file pages_conf=()
  [ -d "$work/traces" ] || unpack_traces "$traces"
  if [ ! -e "$work/traces" ] || [ -z "$(ls "$work/traces")" ]; then
    row "replays with pages" skipped "no traces" - -
    return
  fi
  [ -x "$work/c10_memory" ] || build_memory_peers
  : >"$pages_raw/errors.txt"
  pages_replays segments "$work/bin/sconce_memory_bench"
  pages_conf=(SCONCE_ALLOC_CONF=policy:pages)
  pages_replays pages "$work/bin/sconce_memory_bench"
  pages_conf=(PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True)
  pages_replays expandable "$work/c10_memory"
  pages_conf=()
  pages_replays pool "$work/driver_memory" --backend pool
  [ -s "$pages_raw/pages.txt" ] || row "replays with pages" FAILED "see pages.log" - -
  pages_rows
  pages_soak
  [ "$backend" != cuda ] || drop_in torch-drop-in-pages "$from/bench/memory/torch_drop_in.py" "$lib/libsconce.so" --pages
  pages_table >"$out/pages.txt"
  cp "$pages_raw/soak.txt" "$out/pages-soak.txt"
  grep -h 'drop-in:' "$raw/torch-drop-in-pages.txt" >>"$out/pages.txt" 2>/dev/null || true
  for file in "$pages_raw"/*; do
    echo "== $(basename "$file")"
    cat "$file"
  done >"$out/pages.log"
}
