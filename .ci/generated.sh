#!/usr/bin/env bash
# Fails if go generate changes, adds or removes a file. It compares the tree with itself,
# so that it works outside of a git checkout and beside changes that are not committed.
set -euo pipefail
go=${GO:-go}

snapshot() {
	find . -name .git -prune -o -type f -exec cksum {} + | sort -k 3
}

before=$(snapshot)
"$go" generate ./...
if ! diff <(echo "$before") <(snapshot) >&2; then
	echo "generated code was not current; it is now: commit what make generate wrote" >&2
	exit 1
fi
