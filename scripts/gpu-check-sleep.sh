# The sleep part of scripts/gpu-check, which sources this: pools that sleep and wake, beside the speed of the link to the
# host, to pinned memory, ordinary memory and a file, each the first time and once more. Takes some minutes on a GPU, 20
# GB of the host's memory and 17 GB of the folder for temporary files. Figures go to $out/sleep.txt.
# shellcheck shell=bash
# Set by gpu-check.
: "${out:?}" "${work:?}" "${backend:?}"

# What the project promises of 16 GiB: a share of the speed of plain copies to and from pinned memory.
# Only the place whose memory is there already is judged: first uses are the system's time, and a file is as fast as its
# disk.
readonly least_sleep_of_link=0.85

sleep_checks() {
  local key value unit result
  if ! timeout 500 "$work/bin/sconce_sleep_bench" >"$out/sleep.txt" 2>"$out/sleep.log" </dev/null; then
    row "sleep and wake" FAILED "see sleep.log" - -
    return
  fi
  while read -r key value unit; do
    result=ok
    case "$key" in
      sleep_pinned_sleep_of_link | sleep_pinned_wake_of_link)
        awk -v a="$value" -v m="$least_sleep_of_link" 'BEGIN { exit !(a < m) }' && result=short ;;
    esac
    [ "$backend" = cuda ] || result=rehearsed
    row "$key" "$result" "$value $unit" - -
  done <"$out/sleep.txt"
  if ! grep -q '^sleep_file_sleep ' "$out/sleep.txt"; then
    row "sleep to a file" skipped "see sleep.log" - -
  fi
}
