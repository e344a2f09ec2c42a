#!/usr/bin/env bash
# Simulates many seeds of all scenarios, and leaves what was found in a directory.
#
#   ci/simulate.sh pr                    fixed seeds, minutes: what a change has to pass
#   ci/simulate.sh nightly --shard 1/4   fresh seeds, hours: today's, or those from --base SEED on
#
# What else is given goes to `stet sim campaign`, after the defaults: --seeds, --time-budget, --jobs,
# --scenario, --canary, --state, --out DIR. STET names a binary to use; else bin/stet is built.
#
# DIR has index.html, campaign.json (failing seeds, and the commands that replay them), junit.xml, the
# schedule of each class of failures, shrunk for a minute, with a page that tells what happens in it, and
# the campaign's lines in campaign.txt. The exit code is the campaign's. The last line is
# `simulate: ok|FAILED mode= exit= out=`.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
	sed -n '2,/^set/s/^# \{0,1\}//p' "ci/${0##*/}" >&2
	exit 1
}

mode=${1:-}
[ $# -gt 0 ] && shift
base=$(date -u +%Y%m%d)000000
out=out/simulate-$mode
more=()
while [ $# -gt 0 ]; do
	case $1 in
	--base) base=${2:?--base needs a seed} && shift 2 ;;
	--base=*) base=${1#*=} && shift ;;
	--out) out=${2:?--out needs a directory} && shift 2 ;;
	--out=*) out=${1#*=} && shift ;;
	*) more+=("$1") && shift ;;
	esac
done
case $mode in
pr) set -- --seeds 1..300 ;;
nightly) set -- --seeds "$base..$((base + 999999))" --time-budget 3h ;;
*) usage ;;
esac

stet=${STET:-bin/stet}
[ -n "${STET:-}" ] || go build -o "$stet" ./cmd/stet

mkdir -p "$out"
code=0
"$stet" sim campaign --progress --shrink-budget 1m "$@" ${more[@]+"${more[@]}"} --out "$out" | tee "$out/campaign.txt" || code=$?

# What a reader of the job sees first.
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
	{
		echo '```'
		grep -E '^(campaign|class|  replay|  shrunk|floor missed|mark never|stopped)[: ]' "$out/campaign.txt" || true
		echo '```'
	} >>"$GITHUB_STEP_SUMMARY"
fi
outcome=ok
[ $code = 0 ] || outcome=FAILED
echo "simulate: $outcome mode=$mode exit=$code out=$out"
exit $code
