# The memory part of scripts/gpu-check, which sources this: the allocator's workloads beside those of its
# peers, recorded programs replayed, and PyTorch and CuPy allocating from the library. Takes below four
# minutes on a GPU. The table goes to $out/memory.txt too, everything else to $out/memory.log.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${lib:?}" "${out:?}" "${work:?}" "${backend:?}"

raw="$work/memory"
mkdir -p "$raw"

# target TABLE KEY: what bench/memory/targets.txt promises of a measurement, as "LIMIT VALUE"; nothing if it promises
# nothing.
target() {
  local table pattern limit value
  while read -r table pattern limit value; do
    # A pattern of the shell.
    # shellcheck disable=SC2053
    if [ "$table" = "$1" ] && [[ "$2" == $pattern ]]; then
      [ "$limit" = none ] || echo "$limit $value"
      return
    fi
  done <"$from/bench/memory/targets.txt"
}

# unmeasured TABLE FILE: the measures that a table promises and a file of figures lacks.
unmeasured() {
  local table pattern limit key found
  while read -r table pattern limit _; do
    [ "$table" = "$1" ] && [ "$limit" != none ] || continue
    found=
    while read -r key _; do
      # shellcheck disable=SC2053
      if [[ "$key" == $pattern ]]; then found=1; fi
    done <"$2"
    [ -n "$found" ] || echo "$pattern"
  done <"$from/bench/memory/targets.txt"
}

# judged LIMIT TARGET VALUE: ok, over, short, or FAILED where nothing was measured.
judged() {
  awk -v limit="$1" -v target="$2" -v value="$3" 'BEGIN {
    if (value !~ /^[0-9.]+$/) print "FAILED"
    else if (limit == "most" && value + 0 > target + 0) print "over"
    else if (limit == "least" && value + 0 < target + 0) print "short"
    else print "ok"
  }'
}

# In the table's order; a peer that cannot be had leaves its column empty.
readonly memory_peers=(sconce c10 pool plain floor)

# A rehearsal shows that everything runs; its figures mean little.
memory_effort=()
[ "$backend" = cuda ] || memory_effort=(--quick)

# unpack_traces FOLDER: into $work/traces, without their .gz.
unpack_traces() {
  mkdir -p "$work/traces"
  local file
  for file in "$1"/*.csv "$1"/*.csv.gz; do
    case "$file" in
      *'*'*) ;;
      *.gz) gunzip -c "$file" >"$work/traces/$(basename "$file" .gz)" ;;
      *) cp "$file" "$work/traces/" ;;
    esac
  done
}

# build_memory_peers: what needs PyTorch's and CUDA's headers, both at once.
build_memory_peers() {
  local log="$raw/peers.log" flags=(-O2 -std=c++20 -pthread)
  : >"$log"
  [ "$backend" = cuda ] || return 0
  if find_torch; then
    g++ "${flags[@]}" "$from/bench/memory/c10.cpp" -o "$work/c10_memory" "${torch_includes[@]}" \
      "${torch_libraries[@]}" -lc10_cuda -lc10 -Wl,--no-as-needed -ltorch_cuda -ltorch_cpu -lcudart >>"$log" 2>&1 &
  fi
  g++ "${flags[@]}" "$from/bench/memory/driver.cpp" -o "$work/driver_memory" \
    -I"$cuda/include" -L"$cuda/lib64" -lcudart >>"$log" 2>&1 &
  wait
}

# memory_peer PEER: its figures into $out/memory-PEER.txt.
memory_peer() {
  local program arguments=("${memory_effort[@]}") status=0 file="$raw/$1.txt"
  case "$1" in
    sconce) program="$work/bin/sconce_memory_bench" ;;
    floor) program="$work/bin/floor_memory_bench" ;;
    c10) program="$work/c10_memory" ;;
    pool | plain) program="$work/driver_memory" arguments+=(--backend "$1") ;;
  esac
  : >"$file"
  [ -x "$program" ] || return 0
  local programs=("$work"/traces/*.csv)
  [ ! -e "${programs[0]}" ] || arguments+=("${programs[@]}")
  SCONCE_SIM_MEMORY=64G LD_LIBRARY_PATH="$torch_paths:$LD_LIBRARY_PATH" \
    timeout 100 "$program" "${arguments[@]}" >"$file" 2>>"$raw/peers.log" || status=$?
  [ $status -eq 0 ] || echo "$1: status $status" >>"$raw/peers.log"
  return $status
}

# The peers side by side, with a row for each measurement of Sconce's. The last column is the ratio of PyTorch's figure
# to Sconce's, or the inverse, so that more than 1 is better.
memory_table() {
  local files=() peer
  for peer in "${memory_peers[@]}"; do files+=(column=$((${#files[@]} / 2 + 1)) "$raw/$peer.txt"); done
  awk '
    /^#/ { title[column] = substr($0, 3); next }
    $1 ~ /_reserved$/ { next }
    {
      value[$1, column] = $2 == "-" ? $3 : $2
      if ($2 != "-") unit[$1] = $3
      if (column == 1) keys[++count] = $1
    }
    function shown(text) {
      if (text !~ /^[0-9.]+$/) return text == "" ? "-" : text
      return sprintf(text + 0 >= 1000 ? "%.0f" : text + 0 >= 100 ? "%.1f" : "%.2f", text)
    }
    function is_figure(text) { return text ~ /^[0-9.]+$/ && text + 0 > 0 }
    function print_row(key,    ours, theirs, ratio) {
      ours = value[key, 1]
      theirs = value[key, 2]
      ratio = "-"
      if (is_figure(ours) && is_figure(theirs))
        ratio = sprintf("%.1f x", unit[key] == "Mpairs/s" ? ours / theirs : theirs / ours)
      printf "%-36s %-8s %9s %9s %9s %10s %8s %9s\n", key, key in unit ? unit[key] : "-", shown(ours), \
        shown(theirs), shown(value[key, 3]), shown(value[key, 4]), \
        shown(key ~ /_overhead$/ ? "" : value[key, 5]), ratio
    }
    END {
      print "# " title[1] (title[2] == "" ? "" : "; " title[2])
      printf "%-36s %-8s %9s %9s %9s %10s %8s %9s\n", \
        "measure", "unit", "Sconce", "PyTorch", "pool", "cudaMalloc", "harness", "x PyTorch"
      for (i = 1; i <= count; i++) if (keys[i] !~ /^replay/) print_row(keys[i])
      for (i = 1; i <= count; i++) if (keys[i] ~ /^replay/) print_row(keys[i])
    }' "${files[@]}"
}

memory_benchmarks() {
  local peer started=$SECONDS status=0 ran=0
  build_memory_peers
  for peer in "${memory_peers[@]}"; do
    if ! memory_peer "$peer" && [ "$peer" = sconce ]; then status=1; fi
    if [ -s "$raw/$peer.txt" ]; then ran=$((ran + 1)); fi
  done
  memory_table >"$out/memory.txt"
  if [ $status -ne 0 ]; then
    row "memory benchmarks" FAILED "see memory.log" - -
  else
    row "memory benchmarks" ok "$((SECONDS - started)) s" "$ran of ${#memory_peers[@]} ran" -
  fi
  [ "$backend" = cuda ] || return 0
  local key value theirs limit target
  while read -r key value _; do
    read -r limit target < <(target memory "$key") || continue
    theirs="$(figure "$raw/c10.txt" "$key")"
    row "memory: $key" "$(judged "$limit" "$target" "$value")" "$value of $target" "${theirs:--}" -
  done < <(grep -v '^#' "$raw/sconce.txt")
  while read -r key; do
    row "memory: $key" FAILED "not measured" - -
  done < <(unmeasured memory "$raw/sconce.txt")
}

# replayed_bytes PEER NAME: what a peer had reserved at most when it replayed a program, or nothing.
replayed_bytes() {
  awk -v key="replay_$2_reserved" '$1 == key && $2 != "-" { printf "%.0f", $2 * 1048576 }' "$raw/$1.txt"
}

# Each recorded program through sconce-replay: it must reserve what the benchmark's replay reserved and, where
# PyTorch is there, what PyTorch reserves for the same events. What it reserved when it was recorded may be a
# little more: frees of other streams came later then.
memory_replays() {
  local trace report name ours theirs recorded result
  [ -x "$work/bin/sconce-replay" ] || { row "replays on $backend" skipped "not packaged" - -; return; }
  for trace in "$1"/*.csv.gz; do
    [ -e "$trace" ] || { row "replays on $backend" skipped "no traces" - -; return; }
    name="$(basename "$trace" .csv.gz)"
    report="$raw/replay-$name.json"
    result=FAILED
    ours=- recorded=-
    if timeout 60 "$work/bin/sconce-replay" --backend "$backend" --no-progress --json "$trace" \
      >"$report" 2>>"$raw/peers.log"; then
      read -r ours recorded < <(python3 - "$report" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
print(report["measurements"][0]["peak_reserved"], report["recorded"]["peak_reserved"])
PYTHON
      )
      theirs="$(replayed_bytes c10 "$name")"
      [ "$ours" != "$(replayed_bytes sconce "$name")" ] || [ "$ours" != "${theirs:-$ours}" ] || result=ok
    fi
    row "replay $name" "$result" "$ours" "${theirs:-$recorded rec.}" -
  done
}

# drop_in NAME PROGRAM…: a Python program that ends with 77 where what it needs is missing.
drop_in() {
  local name="$1" log="$raw/$1.txt" status=0
  shift
  timeout 200 python3 "$@" >"$log" 2>&1 || status=$?
  case $status in
    0) row "$name" ok "$(grep -c . "$log") lines" - - ;;
    77) row "$name" skipped "see memory.log" - - ;;
    *) row "$name" FAILED "see memory.log" - - ;;
  esac
}

memory_checks() {
  local traces="$1" started=$SECONDS file
  unpack_traces "$traces"
  memory_benchmarks
  memory_replays "$traces"
  drop_in cupy-calls "$from/bench/memory/cupy_drop_in.py" "$lib/libsconce.so" --imitate "$work"
  if find_torch; then
    drop_in torch-snapshots "$from/bench/memory/check_torch_snapshot.py" "$work/before.pickle" "$work/after.pickle"
  fi
  if [ "$backend" = cuda ]; then
    drop_in cupy-drop-in "$from/bench/memory/cupy_drop_in.py" "$lib/libsconce.so"
    drop_in torch-drop-in "$from/bench/memory/torch_drop_in.py" "$lib/libsconce.so"
  fi
  {
    grep -h -e '^different' -e '^skipped' -e 'drop-in:' -e 'cupy calls:' "$raw"/{torch,cupy}-drop-in.txt \
      "$raw/cupy-calls.txt" 2>/dev/null | head -n 6 || true
    echo "memory part: $((SECONDS - started)) s"
  } >>"$out/memory.txt"
  for file in "$raw"/*; do
    echo "== $(basename "$file")"
    cat "$file"
  done >"$out/memory.log"
  cat "$out/memory.txt"
}
