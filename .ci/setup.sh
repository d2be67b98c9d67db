#!/usr/bin/env bash
# Installs what the tests need beside Go: a real ZooKeeper server, which the suites run
# against, Java Curator with a compiler, for the tests that share locks with it, kazoo, for
# those of the embedded server, Chromium, for those of the page of curator ui, promtool, for those
# of the alerts, and a C compiler, for the race detector. On Debian and its descendants it uses
# apt-get; on others it says what to install. It starts no service: the tests start their own
# servers.
set -euo pipefail

has_commands() {
	local name
	for name; do
		command -v "$name" >/dev/null || return 1
	done
}

has_package() {
	[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# has_kazoo tells whether one of the Pythons has it that the tests look at.
has_kazoo() {
	local python
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import kazoo' 2>/dev/null && return
	done
	return 1
}

# missing prints the Debian packages that are needed and not there. A ZooKeeper release
# that the user points at does instead of the packaged one, and a JDK of any origin does.
missing() {
	local package
	for package in libcurator-client-java libcurator-framework-java libcurator-recipes-java \
		libcurator-discovery-java; do
		has_package "$package" || echo "$package"
	done
	if [ -z "${ZOOKEEPER_HOME:-}" ]; then
		has_package zookeeper || echo zookeeper
	fi
	has_kazoo || echo python3-kazoo
	has_commands chromium || has_commands chromium-browser || has_commands google-chrome || echo chromium
	has_commands java javac || echo default-jdk-headless
	if ! echo '#include <stdlib.h>' | cc -x c -fsyntax-only - 2>/dev/null; then
		echo gcc
		echo libc6-dev
	fi
}

# by_hand says what the tests would like to find, and lets them run without it: they skip
# what needs a real server, and fail it where CI=true.
by_hand() {
	cat >&2 <<-'MESSAGE'
		NOTICE: the tests against real ZooKeeper servers need, and this script cannot install here:
		  - a JDK, 11 or newer, with java and javac on PATH (JAVA_HOME goes before it);
		  - a release of Apache ZooKeeper, 3.8 or newer, unpacked:
		      export ZOOKEEPER_HOME=/path/to/apache-zookeeper-3.8.x-bin
		The tests with Java Curator and kazoo need Debian's packages of these.
		Those of the page of curator ui need Chromium: chromium or google-chrome on PATH.
		Those of the alerts need promtool of Prometheus, 2.42 or newer, on PATH.
		The race detector needs a C compiler, cc or gcc.
		Without these programs the tests are skipped, unless CI=true, where they fail.
	MESSAGE
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

install_packages() {
	as_root apt-get update -q &&
		as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

# install_promtool takes promtool from Debian's package of Prometheus. The package is not installed,
# because it would start a server.
install_promtool() {
	local dir status=0
	dir=$(mktemp -d)
	cd "$dir"
	as_root apt-get update -q && apt-get download -q prometheus &&
		dpkg-deb --extract prometheus_*.deb . &&
		as_root install -D -m 755 usr/bin/promtool /usr/local/bin/promtool || status=$?
	cd - >/dev/null
	rm -rf "$dir"
	return "$status"
}

if ! [ -e /etc/debian_version ] || ! has_commands apt-get dpkg-query; then
	if [ -z "${ZOOKEEPER_HOME:-}" ] || ! has_commands java javac; then
		by_hand
	fi
	exit
fi

mapfile -t packages < <(missing)
promtool=true
has_commands promtool || promtool=false
if [ "${#packages[@]}" -eq 0 ] && "$promtool"; then
	exit
fi
if [ "$(id -u)" -ne 0 ] && ! has_commands sudo; then
	echo "NOTICE: neither root nor sudo; run this script as root, or install: ${packages[*]} promtool" >&2
else
	ok=true
	if [ "${#packages[@]}" -gt 0 ]; then
		echo "Installing for the tests: ${packages[*]}"
		install_packages "${packages[@]}" || ok=false
	fi
	if ! "$promtool"; then
		echo "Installing for the tests: promtool, into /usr/local/bin"
		install_promtool || ok=false
	fi
	"$ok" && exit
fi
by_hand
if [ "${CI:-}" = true ]; then
	exit 1
fi
