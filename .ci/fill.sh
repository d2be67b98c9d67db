#!/usr/bin/env bash
# For scripts that fetch what they keep in folders outside of the repository; they read this file with ".".

# fill FOLDER SUM COMMAND... has the command fill a new folder, whose path is its last argument, and puts it in the place of
# FOLDER, unless that was filled with the same sum. A FOLDER that is there is whole. Prints what the command says only
# if it fails.
fill() {
	local folder=$1 sum=$2 new
	shift 2
	if [ "$(cat "$folder/sum" 2>/dev/null)" = "$sum" ]; then
		return
	fi
	mkdir -p "$(dirname "$folder")"
	new=$(mktemp -d "$(dirname "$folder")/new.XXXXXX")
	if ! "$@" "$new" >"$new/log" 2>&1; then
		cat "$new/log" >&2
		rm -rf "$new"
		echo "$folder could not be filled" >&2
		return 1
	fi
	echo "$sum" >"$new/sum"
	rm -rf "$folder" "$new/log"
	mv "$new" "$folder"
}

# needs COMMAND PACKAGE fails if there is no such command.
needs() {
	command -v "$1" >/dev/null || {
		echo "there is no $1: install it (Debian, Ubuntu: apt-get install $2)" >&2
		return 1
	}
}

# dependencies POM PROFILE FOLDER copies what a pom.xml names, with Maven. Checksums that do not match fail.
dependencies() {
	needs mvn maven || return
	mvn --batch-mode --quiet --strict-checksums --file "$1" ${2:+--activate-profiles "$2"} \
		org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies "-DoutputDirectory=$3"
}
