#!/usr/bin/env bash
# Fetches other clients at their newest releases, for make peers, into PEERSDIR, without it ~/.cache/curator-peers, and
# prints that folder:
#
#   curator  Java Curator, with what it needs             suite  its own tests, with what they need
#   spring   Spring Cloud Zookeeper                      kazoo  a Python with kazoo
#   node     node-zookeeper-client                       rust   a program with zookeeper-client
#
# All versions are fixed: in the pom.xml files and in kazoo.txt beside this script, and in
# internal/interop/peers/testdata. What is there is fetched again only if these files have changed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../fill.sh"
programs=$here/../../internal/interop/peers/testdata
peers=${PEERSDIR:-${XDG_CACHE_HOME:-$HOME/.cache}/curator-peers}

sum() { cat "$@" "$here/fetch.sh" "$here/../fill.sh" | sha256sum; }

jars() { dependencies "$here/$1/pom.xml" "$2" "$3"; }

kazoo() {
	"$python" -m venv "$1"
	"$1/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$here/kazoo.txt"
}

node() {
	cp "$programs/node/package.json" "$programs/node/package-lock.json" "$1"
	npm --prefix "$1" ci --ignore-scripts --no-audit --no-fund
}

# Cargo.lock.in is a lock file without the lines that name cargo's registry; they are taken from one that cargo writes.
rust() {
	local program=$1/program registry
	cp -r "$programs/rust" "$program" || return
	cargo generate-lockfile --manifest-path "$program/Cargo.toml" || return
	registry=$(grep --max-count=1 '^source = ' "$program/Cargo.lock") || return
	sed "s|^checksum = |$registry\n&|" "$program/Cargo.lock.in" >"$program/Cargo.lock" || return
	cargo build --locked --manifest-path "$program/Cargo.toml" --target-dir "$1"
}

# The Python of the system has what a virtual environment needs, where there is one.
python=/usr/bin/python3
[ -x "$python" ] || python=python3

needs mvn maven
needs javac default-jdk-headless
needs "$python" python3-venv
needs npm npm
needs cargo cargo
mkdir -p "$peers"
peers=$(cd "$peers" && pwd)
fill "$peers/curator" "$(sum "$here/curator/pom.xml")" jars curator curator
fill "$peers/suite" "$(sum "$here/curator/pom.xml")" jars curator suite
fill "$peers/spring" "$(sum "$here/spring/pom.xml")" jars spring ""
fill "$peers/kazoo" "$(sum "$here/kazoo.txt")" kazoo
fill "$peers/node" "$(sum "$programs/node/package-lock.json")" node
fill "$peers/rust" "$(sum "$programs"/rust/Cargo.* "$programs"/rust/src/*)" rust
echo "$peers"
