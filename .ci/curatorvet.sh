#!/usr/bin/env bash
# Builds curatorvet and runs it over this module and those below it.
set -euo pipefail
go=${GO:-go}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$go" -C tools/curatorvet build -o "$dir/curatorvet" .
"$go" vet -vettool="$dir/curatorvet" ./...
GO="$go" .ci/nested.sh vet -vettool="$dir/curatorvet" ./...
