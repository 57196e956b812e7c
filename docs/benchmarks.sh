#!/usr/bin/env bash
# Measures bide against the installed curl on loopback, pair by pair, and prints
# medians and ratios. Needs bash 5, Go, curl and nginx. Usage:
#   bash docs/benchmarks.sh [PAIRS]
# UPLOAD is the size of the upload whose memory is measured, 5 GB unless given.
set -euo pipefail
cd "$(dirname "$0")/.."
pairs=${1:-30}
dir=$(mktemp -d)
trap 'nginx -c "$dir/nginx.conf" -p "$dir" -s stop 2>/dev/null || true; rm -rf "$dir"' EXIT

CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$dir/linked" .
cp "$dir/linked" "$dir/bide" # as a package or an archive puts it there: see benchmarks.md
mkdir "$dir/root"
echo '{"ok":true}' >"$dir/root/small"
truncate -s 1G "$dir/root/large"
port=$(( 20000 + RANDOM % 20000 ))
cat >"$dir/nginx.conf" <<EOF
worker_processes 1;
pid $dir/pid;
error_log $dir/error.log;
events {}
http {
  access_log off; sendfile on; keepalive_requests 1000000;
  client_body_temp_path $dir/1; proxy_temp_path $dir/2; fastcgi_temp_path $dir/3; uwsgi_temp_path $dir/4; scgi_temp_path $dir/5;
  server { listen 127.0.0.1:$port; root $dir/root; }
}
EOF
sed -i "1i user $(id -un);" "$dir/nginx.conf"
nginx -c "$dir/nginx.conf" -p "$dir"
url=http://127.0.0.1:$port

# seconds CMD...: wall time of one run, in seconds
seconds() {
  # not timed: what the run before has left to be written to the disk
  if [ -n "${fresh-}" ]; then rm -f "$dir"/out.*; fi
  if [ -n "${disk-}" ]; then sync; sleep 0.2; fi
  local start=$EPOCHREALTIME
  "$@" >/dev/null 2>&1
  local end=$EPOCHREALTIME
  awk -v a="$start" -v b="$end" 'BEGIN { printf "%.6f\n", b - a }'
}

median() { sort -n | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# compare NAME PAIRS BIDE-ARGS -- CURL-ARGS
compare() {
  local name=$1 n=$2; shift 2
  local a=() b=()
  while [ "$1" != -- ]; do a+=("$1"); shift; done
  shift; b=("$@")
  seconds "${a[@]}" >/dev/null; seconds "${b[@]}" >/dev/null
  : >"$dir/a"; : >"$dir/b"; : >"$dir/r"
  for _ in $(seq "$n"); do
    local x y
    x=$(seconds "${a[@]}"); y=$(seconds "${b[@]}")
    echo "$x" >>"$dir/a"; echo "$y" >>"$dir/b"
    awk -v x="$x" -v y="$y" 'BEGIN { printf "%.4f\n", x / y }' >>"$dir/r"
  done
  printf '%-28s bide %8.2f ms   curl %8.2f ms   ratio %.2f\n' "$name" \
    "$(awk -v s="$(median <"$dir/a")" 'BEGIN { print s * 1000 }')" "$(awk -v s="$(median <"$dir/b")" 'BEGIN { print s * 1000 }')" "$(median <"$dir/r")"
}

peak() { # peak resident memory of one run, in MiB
  python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print("%.1f" % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))
' "$@"
}

"$dir/bide" version | head -1
curl --version | head -1
nproc | sed 's/$/ processors/'
echo
compare "start-up: -s URL" "$pairs" "$dir/bide" -q -s "$url/small" -- curl -q -s "$url/small"
compare "... fresh from the linker" "$pairs" "$dir/linked" -q -s "$url/small" -- curl -q -s "$url/small"
large=$(( pairs < 7 ? pairs : 7 ))
disk=1 fresh=1 compare "1 GiB to a new file" "$large" "$dir/bide" -q -s -o "$dir/out.bide" "$url/large" -- curl -q -s -o "$dir/out.curl" "$url/large"
disk=1 compare "1 GiB over an old file" "$large" "$dir/bide" -q -s -o "$dir/out.bide" "$url/large" -- curl -q -s -o "$dir/out.curl" "$url/large"
cmp "$dir/out.bide" "$dir/out.curl"
rm -f "$dir"/out.*
compare "1 GiB to /dev/null" "$large" "$dir/bide" -q -s -o /dev/null "$url/large" -- curl -q -s -o /dev/null "$url/large"
compare "1 GiB to a pipe" "$large" bash -c "'$dir/bide' -q -s '$url/large' | cat >/dev/null" -- bash -c "curl -q -s '$url/large' | cat >/dev/null"
for n in $(seq 2000); do echo "$n"; done >"$dir/numbers"
(cd "$dir/root" && while read -r n; do echo "answer $n" >"$n"; done <"$dir/numbers")
while read -r n; do echo "url = \"$url/$n\""; done <"$dir/numbers" >"$dir/list"
compare "2000 URLs, -Z, a glob" "$pairs" "$dir/bide" -q -s -Z --parallel-max 50 "$url/[1-2000]" -- curl -q -s -Z --parallel-max 50 "$url/[1-2000]"
compare "2000 URLs, -Z, a list" "$pairs" "$dir/bide" -q -s -Z --parallel-max 50 -K "$dir/list" -- curl -q -s -Z --parallel-max 50 -K "$dir/list"
compare "2000 URLs, a list" "$pairs" "$dir/bide" -q -s -K "$dir/list" -- curl -q -s -K "$dir/list"
if command -v python3 >/dev/null; then
  # Sent twice, since the first answer is 503; the spool needs as much room in TMPDIR.
  export -f peak
  export bide="$dir/bide" upload=${UPLOAD:-5000000000}
  printf '\npeak memory, %s bytes from standard input, sent twice: bide %s MiB\n' "$upload" \
    "$("$dir/bide" mock --script '503, 201' --expect requests=2 --expect same-body -- \
      bash -c 'head -c "$upload" /dev/zero | peak "$bide" -q -s --base 100ms -T - "$MOCK_URL"' 2>/dev/null | grep -oE '^[0-9.]+$')"
  echo
  printf 'peak memory, 1 GiB to a file: bide %s MiB, curl %s MiB\n' \
    "$(peak "$dir/bide" -q -s -o "$dir/out.bide" "$url/large")" "$(peak curl -q -s -o "$dir/out.curl" "$url/large")"
fi
