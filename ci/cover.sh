#!/usr/bin/env bash
# Says how much of core/ and node a campaign runs through: what no seed reaches, no check judges. The
# packages below node are the real world's, which no simulation runs.
#
#   ci/cover.sh [SEEDS]      seeds 1..SEEDS of every scenario, 25 if it is not given
#
# OUT (default out/cover) gets percent.txt (by package), functions.txt, never.txt (functions that no
# seed has entered), and cover.html. The last line is
# `cover: ok|FAILED seeds= statements=<percent> least=<package> <percent> never=<functions>`.
set -euo pipefail
cd "$(dirname "$0")/.."
trap '[ $? = 0 ] || echo "cover: FAILED"' EXIT

seeds=${1:-25}
out=${OUT:-out/cover}
data=$out/data
rm -rf "$data"
mkdir -p "$data"

# Nothing is written at the end of a process whose main package is not instrumented too.
judged=stet/core/...,stet/node
go build -cover -covermode=atomic -coverpkg=$judged,stet/cmd/stet -o "$out/stet" ./cmd/stet
# Marks that so few seeds do not reach (14) are no matter here; a failed run is.
code=0
GOCOVERDIR=$data "$out/stet" sim campaign --seeds "1..$seeds" >"$out/campaign.txt" || code=$?
tail -n 1 "$out/campaign.txt"
[ $code = 0 ] || [ $code = 14 ]

# Each line of covdata: package, "coverage:", percent, ...
go tool covdata percent -i="$data" -pkg=$judged | awk '/coverage:/ { print $1, $3 }' | sort -k2 -n >"$out/percent.txt"
go tool covdata textfmt -i="$data" -pkg=$judged -o="$out/profile"
go tool cover -func="$out/profile" >"$out/functions.txt"
go tool cover -html="$out/profile" -o "$out/cover.html"
awk '$NF == "0.0%"' "$out/functions.txt" >"$out/never.txt"
cat "$out/percent.txt"
rm -rf "$data"

total=$(awk '/^total:/ { print $NF }' "$out/functions.txt")
echo "cover: ok seeds=1..$seeds statements=$total least=$(head -n 1 "$out/percent.txt") never=$(wc -l <"$out/never.txt")"
