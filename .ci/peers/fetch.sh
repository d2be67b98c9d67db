#!/usr/bin/env bash
# Fetches other clients at their newest releases, for make peers, into PEERSDIR, without it ~/.cache/curator-peers, and
# prints that folder:
#
#   curator  Java Curator, with what it needs             suite  its own tests, with what they need
#   spring   Spring Cloud Zookeeper                      kazoo  a Python with kazoo
#   node     node-zookeeper-client                       rust   a program with zookeeper-client
#
# All versions are fixed, but for what the client for Rust needs: in the pom.xml files and in kazoo.txt beside this
# script, and in internal/interop/peers/testdata. What is there is fetched again only if these files have changed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
programs=$here/../../internal/interop/peers/testdata
peers=${PEERSDIR:-${XDG_CACHE_HOME:-$HOME/.cache}/curator-peers}
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1

needs() {
	command -v "$1" >/dev/null || {
		echo "make peers needs $1: install it (Debian, Ubuntu: apt-get install $2)" >&2
		return 1
	}
}

# fetch NAME SUM FUNCTION has the function fill a folder that then is called NAME, unless that has the same sum.
fetch() {
	local folder=$peers/$1 new
	if [ "$(cat "$folder/sum" 2>/dev/null)" = "$2" ]; then
		return
	fi
	new=$(mktemp -d "$peers/new.XXXXXX")
	if ! "$3" "$1" "$new" >"$new/log" 2>&1; then
		cat "$new/log" >&2
		rm -rf "$new"
		echo "$1 could not be fetched" >&2
		return 1
	fi
	echo "$2" >"$new/sum"
	rm -rf "$folder" "$new/log"
	mv "$new" "$folder"
}

sum() { cat "$@" "$here/fetch.sh" | sha256sum; }

# Checksums that do not match fail.
maven() { mvn --batch-mode --quiet --strict-checksums "$@"; }

curator() { maven --file "$here/curator/pom.xml" --activate-profiles "$1" "$plugin:copy-dependencies" "-DoutputDirectory=$2"; }

spring() { maven --file "$here/spring/pom.xml" "$plugin:copy-dependencies" "-DoutputDirectory=$2"; }

kazoo() {
	"$python" -m venv "$2"
	"$2/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$here/kazoo.txt"
}

node() {
	cp "$programs/node/package.json" "$programs/node/package-lock.json" "$2"
	npm --prefix "$2" ci --ignore-scripts --no-audit --no-fund
}

# cargo writes the versions of what the client needs into the folder of the program.
rust() {
	cp -r "$programs/rust" "$2/program"
	cargo build --manifest-path "$2/program/Cargo.toml" --target-dir "$2"
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
fetch curator "$(sum "$here/curator/pom.xml")" curator
fetch suite "$(sum "$here/curator/pom.xml")" curator
fetch spring "$(sum "$here/spring/pom.xml")" spring
fetch kazoo "$(sum "$here/kazoo.txt")" kazoo
fetch node "$(sum "$programs/node/package-lock.json")" node
fetch rust "$(sum "$programs"/rust/Cargo.toml "$programs"/rust/src/*)" rust
echo "$peers"
