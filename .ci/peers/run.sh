#!/usr/bin/env bash
# Runs the tests together with other clients at their newest releases: those of internal/interop with Java Curator and
# kazoo, and those of internal/interop/peers. The arguments are passed to go test.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
go=${GO:-go}

PEERSDIR=$("$here/fetch.sh")
export PEERSDIR CI=true # what is missing fails
status=0
CURATOR_JARS=$PEERSDIR/curator KAZOO_PYTHON=$PEERSDIR/kazoo/bin/python \
	"$go" test -vet=off -count=1 -timeout 20m "$@" ./internal/interop || status=$?
"$go" test -vet=off -count=1 -v -timeout 60m "$@" ./internal/interop/peers || status=$?
exit "$status"
