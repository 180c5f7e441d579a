# The sanitizer part of scripts/gpu-check, which sources this: C++ tests that launch kernels, under two tools of
# compute-sanitizer. memcheck finds accesses outside of allocations, initcheck reads of memory that was never
# written. Then memcheck has to see the blocks of the allocator (check-memory-regions). Takes at most about four minutes.
# A summary goes to $out/sanitizer.txt, everything else to $out/sanitizer.log.
#
# Each test is a separate process, so that a crash or a time-out names it. On the simulator the same tests run
# without a tool, which rehearses this script.
# shellcheck shell=bash
# Set by gpu-check.
: "${out:?}" "${work:?}" "${backend:?}" "${cuda:?}" "${here:?}"

sanitizer_raw="$work/sanitizer"
mkdir -p "$sanitizer_raw"

readonly sanitizer_tools=(memcheck initcheck)
# Seconds for the tests of one tool; no test starts later. Seconds for one test.
readonly sanitizer_seconds=100 sanitizer_test_seconds=90
# The status of a process in which the tool has found errors.
readonly sanitizer_found=86
# Memory of the device for one process: its context, the tool's records, libraries, and the test's own.
readonly sanitizer_test_mib=4096
# Programs first, since they take longest. Tests that use up the memory of the device stay out.
readonly sanitizer_programs='^(captures_load_(global|thread_local)|memory_graph|random_graph|copies)$'
readonly sanitizer_suites='^(Blas|BlasFailure|CopyShapes|Copy|DeviceBuffer|Dnn|FFT|FFTCache|Memory|MemoryPool|Random)Test\.'
# Tests that observe work while it runs. Under initcheck a call that queues work returns when the work is done.
readonly sanitizer_asynchronous='^(copies|CopyTest\.CopiesRunOnTheCurrentStream|.*CopyPairingTest\.CallsReturnAsTorchsDo/.*)$'
readonly sanitizer_pairings='(CopyPairing|CopyShapesPairing)Test\.'

# The tool's program, where CUDA's toolkit is installed.
sanitizer_program() {
  command -v compute-sanitizer && return
  local program
  for program in "$cuda/bin/compute-sanitizer" "$cuda/compute-sanitizer/compute-sanitizer"; do
    if [ -x "$program" ]; then
      echo "$program"
      return
    fi
  done
  return 1
}

# The chosen lines of cpp-tests.txt: NAME, PROGRAM, ARGUMENTS, separated by tabs.
sanitizer_selection() {
  local tests="$sanitizer_raw/all.txt"
  packaged_tests >"$tests"
  awk -F '\t' -v names="$sanitizer_programs" '$1 ~ names' "$tests"
  # From all suites in turns, so that each is there if the time is short.
  awk -F '\t' -v suites="$sanitizer_suites" -v pairings="$sanitizer_pairings" '
    $1 ~ suites || $1 ~ pairings { suite = $1; sub(/\..*/, "", suite); print ++seen[suite] "\t" $0 }' "$tests" |
    sort -s -n -k 1,1 | cut -f 2-
}

# How many processes at once: one for each core, as far as the memory of the device goes.
sanitizer_jobs() {
  local jobs free
  jobs="$(nproc)"
  if [ "$backend" = cuda ]; then
    free="$(nvidia-smi --query-gpu=memory.free --format=csv,noheader,nounits 2>/dev/null | head -n 1)"
    if [ "${free:-0}" -gt 0 ] && [ $((free / sanitizer_test_mib)) -lt "$jobs" ]; then
      jobs=$((free / sanitizer_test_mib))
    fi
  fi
  [ "$jobs" -ge 1 ] || jobs=1
  echo "$jobs"
}

# sanitizer_one FOLDER NUMBER: runs a line of the selection, and writes NUMBER.log and NUMBER.status.
sanitizer_one() {
  local folder="$1" number="$2" status=0 test under=()
  IFS=$'\t' read -r -a test < <(sed -n "${number}p" "$folder/../selection.txt")
  if [ "$(date +%s)" -ge "$SANITIZER_DEADLINE" ]; then
    echo "left ${test[0]}" >"$folder/$number.status"
    return 0
  fi
  if [ "$(basename "$folder")" = initcheck ] && [[ ${test[0]} =~ $SANITIZER_ASYNCHRONOUS ]]; then
    echo "77 ${test[0]}" >"$folder/$number.status"
    return 0
  fi
  if [ -n "$SANITIZER_PROGRAM" ]; then
    under=("$SANITIZER_PROGRAM" --tool "$(basename "$folder")" --report-api-errors no
      --error-exitcode "$SANITIZER_FOUND" --print-limit 5)
  fi
  # In a separate folder, because some tests write files.
  mkdir -p "$folder/$number"
  (cd "$folder/$number" && timeout -k 5 "$SANITIZER_TEST_SECONDS" "${under[@]}" "$SANITIZER_BIN/${test[1]}" \
    "${test[@]:2}") >"$folder/$number.log" 2>&1 </dev/null || status=$?
  echo "$status ${test[0]}" >"$folder/$number.status"
}

# sanitizer_tool TOOL: runs the selection under a tool, and adds its row.
sanitizer_tool() {
  local tool="$1" folder="$sanitizer_raw/$1" status name number result=ok
  local run=0 failed=0 skipped=0 left=0 errors=0 found
  mkdir -p "$folder"
  export SANITIZER_DEADLINE=$(($(date +%s) + sanitizer_seconds))
  # shellcheck disable=SC2016
  seq "$(wc -l <"$sanitizer_raw/selection.txt")" |
    xargs -P "$(sanitizer_jobs)" -I '{}' bash -c 'sanitizer_one "$1" "$2"' sanitizer "$folder" '{}'
  while read -r number; do
    read -r status name <"$folder/$number.status"
    found=0
    if [ -f "$folder/$number.log" ]; then
      found="$(sed -n 's/^=* *ERROR SUMMARY: \([0-9]*\) error.*/\1/p' "$folder/$number.log" | awk '{ s += $1 } END { print s + 0 }')"
    fi
    errors=$((errors + found))
    if [ "$status" = left ]; then
      left=$((left + 1))
      continue
    fi
    if [ "$status" -eq 77 ] || { [ "$status" -eq 0 ] && grep '^\[  SKIPPED \]' "$folder/$number.log" >/dev/null; }; then
      skipped=$((skipped + 1))
      continue
    fi
    run=$((run + 1))
    # Errors count even where a tool does not end with the status for them.
    if [ "$status" -ne 0 ] || [ "$found" -ne 0 ]; then
      failed=$((failed + 1))
      case "$status" in
        0 | "$sanitizer_found") echo "$tool: $name: $found errors" ;;
        124 | 137) echo "$tool: $name: not done after $sanitizer_test_seconds s" ;;
        *) echo "$tool: $name: status $status" ;;
      esac >>"$out/sanitizer.txt"
    fi
  done < <(seq "$(wc -l <"$sanitizer_raw/selection.txt")")
  # A tool that checks nothing has found nothing either.
  if [ -n "$SANITIZER_PROGRAM" ] && ! grep -l 'ERROR SUMMARY' "$folder"/*.log >/dev/null 2>&1; then
    echo "$tool: no test has a summary of the tool" >>"$out/sanitizer.txt"
    result=FAILED
  fi
  [ $failed -eq 0 ] && [ $run -gt 0 ] || result=FAILED
  [ "$result" = FAILED ] || [ "$backend" = cuda ] || result=rehearsed
  echo "$tool: $run run, $failed failed, $errors errors, $skipped skipped, $left left out for want of time" >>"$out/sanitizer.txt"
  row "compute-sanitizer $tool" "$result" "$run run" "$errors errors" "$failed bad"
}

# Programs that use blocks rightly and wrongly, with the blocks registered and without.
sanitizer_blocks() {
  local result=ok
  CUDA_HOME="$cuda" "$here/check-memory-regions" "$work/bin/cpp/sconce_memory_regions" >"$sanitizer_raw/blocks.log" 2>&1 ||
    result=FAILED
  grep '^[a-z]* *SCONCE_NVTX_MEMORY=' "$sanitizer_raw/blocks.log" >>"$out/sanitizer.txt" || result=FAILED
  row "memcheck of blocks" "$result" - - -
}

sanitizer_checks() {
  local started=$SECONDS tool log
  : >"$out/sanitizer.txt"
  SANITIZER_PROGRAM=
  if [ "$backend" = cuda ] && ! SANITIZER_PROGRAM="$(sanitizer_program)"; then
    row "compute-sanitizer" skipped "not installed" - -
    return
  fi
  sanitizer_selection >"$sanitizer_raw/selection.txt"
  export SANITIZER_PROGRAM SANITIZER_BIN="$work/bin/cpp" SANITIZER_FOUND=$sanitizer_found
  export SANITIZER_TEST_SECONDS=$sanitizer_test_seconds SANITIZER_ASYNCHRONOUS="$sanitizer_asynchronous"
  export -f sanitizer_one
  for tool in "${sanitizer_tools[@]}"; do
    sanitizer_tool "$tool"
  done
  [ -z "$SANITIZER_PROGRAM" ] || sanitizer_blocks
  echo "sanitizer part: $((SECONDS - started)) s" >>"$out/sanitizer.txt"
  for log in "$sanitizer_raw"/*/*.log; do
    echo "== $(basename "$(dirname "$log")"): $(cut -d ' ' -f 2- "${log%.log}.status" 2>/dev/null)"
    cat "$log"
  done >"$out/sanitizer.log"
  [ ! -f "$sanitizer_raw/blocks.log" ] || cat "$sanitizer_raw/blocks.log" >>"$out/sanitizer.log"
  cat "$out/sanitizer.txt"
}
