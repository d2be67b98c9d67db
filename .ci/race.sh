#!/usr/bin/env bash
# Prints -race if this machine can build with it, and otherwise says why not. The race
# detector needs cgo, which needs a C compiler with the C library's headers.
set -euo pipefail
go=${GO:-go}

if ! why=$("$go" list -race ./state 2>&1 >/dev/null); then
	:
elif ! why=$(echo '#include <stdlib.h>' | $("$go" env CC) -x c -fsyntax-only - 2>&1); then
	why="no working C compiler: $why"
else
	echo -race
	exit
fi
echo "NOTICE: the tests run without the race detector: $why" >&2
