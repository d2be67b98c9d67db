#!/usr/bin/env bash
# Says what has changed in the public API since BASE, a commit or tag; without it since the last tag of a
# version. APIDIFFFLAGS=-incompatible shows only what breaks users.
set -euo pipefail
go=${GO:-go}
tool=${APIDIFF:?}
base=${BASE:-$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || true)}
if [ -z "$base" ]; then
	echo "there is no tag of a version yet; name a commit: make apidiff BASE=..." >&2
	exit 1
fi
module=$("$go" list -m)
work=$(mktemp -d)
trap 'git worktree remove --force "$work/base" 2>/dev/null; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/base" "$base"
(cd "$work/base" && "$go" run "$tool" -m -w "$work/api" "$module" 2> >(grep -v '^Ignoring internal' >&2))
"$go" run "$tool" -m ${APIDIFFFLAGS:-} "$work/api" "$module" 2> >(grep -v '^Ignoring internal' >&2)
