package zkserver_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/zkserver/tree"
	"github.com/go-curator/curator/tools/curatortest"
)

// difference is a script in which a release answers otherwise than the one before it.
type difference struct {
	release tree.Release
	script  string
	what    string // what the release does
}

// differences has all of them. The transcript of a release after the first has these scripts, and no others.
var differences = []difference{
	{tree.Release386, "paths and check", "a check outside of a multi is unknown: -6, and the connection ends"},
	{tree.Release386, "check outside of a multi", "-6, and the connection ends"},
	{tree.Release386, "malformed requests", "a check is unknown, and takes no zxid"},
	{tree.Release386, "ACL", "exists needs the permission to read: -102; a check is unknown"},
	{tree.Release386, "watches without permission", "exists needs the permission to read: -102, and no watch is set"},
	{tree.Release386, "multi", "a create2 has a Stat; a multi with bad flags or a null ACL in a create cannot be read: -5, the latter takes no zxid"},
	{tree.Release386, "malformed multis", "one that a null ACL makes unreadable takes no zxid, and is answered with results, which are none"},
	{tree.Release386, "multi of containers and TTL nodes", "a createContainer makes a container, whatever its flags"},
	{tree.Release386, "quotas and multis", "a create2 in a multi has a Stat"},
	{tree.Release386, "quotas in parts", "one node more below the root: that container"},

	{tree.Release395, "ACL of addresses", "::1 is an address"},
	{tree.Release395, "watches without permission", stamped},
	{tree.Release395, "one-shot watches", stamped},
	{tree.Release395, "watches of a session that ends", stamped},
	{tree.Release395, "checkWatches and removeWatches", stamped + "; a check finds only the client's own watches; types 1 and 2 are one-shot watches only, and there are types 4 and 5"},
	{tree.Release395, "checkWatches on what is no path", "a watch is found whatever its path: never -5"},
	{tree.Release395, "persistent watches", stamped},
	{tree.Release395, "recursive watches", stamped + "; a one-shot watch on the same path leaves the recursive one"},
	{tree.Release395, "a watch replaces one of another kind", stamped + "; it does not: watches of different modes are different watches"},
	{tree.Release395, "setWatches", stamped + ", but for those that setWatches itself causes"},
	{tree.Release395, "setWatches2", stamped},
	{tree.Release395, "watches end with the connection", stamped},
	{tree.Release395, "multi", "a multi with a null ACL is answered without results"},
	{tree.Release395, "malformed multis", "a multi with a null ACL is answered without results"},
	{tree.Release395, "multi and watches", stamped},
	{tree.Release395, "a session is closed", stamped},
	{tree.Release395, "operations between servers", "deleteContainer is done for clients"},
	{tree.Release395, "malformed requests", "a write that cannot be read takes no zxid, unless it is a multi"},
	{tree.Release395, "requests in one write", stamped},
}

// stamped is what is different wherever there are events.
const stamped = "an event has the zxid of its transaction, in place of -1"

// transcriptOf returns the name of the file with what a release did when it was last asked with -record: the
// first one in all scripts, the others in those that differ from the release before.
func transcriptOf(release tree.Release) string {
	return fmt.Sprintf("testdata/zookeeper-%v.txt", release)
}

// section is what clients received in a script.
type section struct{ script, text string }

// sections splits a transcript.
func sections(transcript string) (all []section) {
	for part := range strings.SplitSeq("\n"+transcript, "\n=== ") {
		if name, text, ok := strings.Cut(part, "\n"); ok && name != "" {
			all = append(all, section{name, strings.TrimSuffix(text, "\n") + "\n"})
		}
	}
	return all
}

// join returns the transcript with the sections.
func join(all []section) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "=== %s\n%s", s.script, s.text)
	}
	return b.String()
}

// transcript returns what a release did in all scripts.
func transcript(t *testing.T, release tree.Release) string {
	t.Helper()
	var all []section
	for _, r := range tree.Releases()[:release+1] {
		text, err := os.ReadFile(transcriptOf(r))
		if err != nil {
			t.Fatal(err)
		}
		if r == tree.Release380 {
			all = sections(string(text))
			continue
		}
		for _, s := range sections(string(text)) {
			i := slices.IndexFunc(all, func(before section) bool { return before.script == s.script })
			if i < 0 {
				t.Fatalf("%s: no script %q", transcriptOf(r), s.script)
			}
			all[i] = s
		}
	}
	return join(all)
}

// recordTranscript writes what a release did.
func recordTranscript(t *testing.T, release tree.Release, got string) {
	t.Helper()
	recorded := sections(got)
	if release > tree.Release380 {
		before := sections(transcript(t, release-1))
		recorded = slices.DeleteFunc(recorded, func(s section) bool { return slices.Contains(before, s) })
	}
	if err := os.WriteFile(transcriptOf(release), []byte(join(recorded)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDifferencesAreNamed wants the table to have each script of each transcript but the first, and no others.
func TestDifferencesAreNamed(t *testing.T) {
	for _, release := range tree.Releases()[1:] {
		var named, recorded []string
		for _, d := range differences {
			if d.release == release {
				named = append(named, d.script)
			}
			if d.what == "" {
				t.Errorf("%v, %s: what is different?", d.release, d.script)
			}
		}
		text, err := os.ReadFile(transcriptOf(release))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sections(string(text)) {
			recorded = append(recorded, s.script)
		}
		slices.Sort(named)
		slices.Sort(recorded)
		if !slices.Equal(named, recorded) {
			t.Errorf("%v: the table has\n%q,\nthe transcript\n%q", release, named, recorded)
		}
	}
}

// answeringAs returns the option of an embedded server that answers as a release.
func answeringAs(release tree.Release) curatortest.Option {
	return curatortest.WithRelease(release.String())
}

var versionIn = regexp.MustCompile(`version: (\d+)\.(\d+)\.(\d+)`)

// releaseOf returns which release a server follows: the newest one that is not newer than the server.
func releaseOf(t *testing.T, server string) tree.Release {
	t.Helper()
	version := versionIn.FindStringSubmatch(ask(t, server, "srvr"))
	if version == nil {
		t.Fatal("srvr has no version")
	}
	for _, release := range slices.Backward(tree.Releases()) {
		if !newer(release.String(), strings.Join(version[1:], ".")) {
			return release
		}
	}
	t.Fatalf("ZooKeeper %s: there is no transcript of a release that old", strings.Join(version[1:], "."))
	return 0
}

// newer tells whether version a is newer than b.
func newer(a, b string) bool {
	var va, vb [3]int
	fmt.Sscanf(a, "%d.%d.%d", &va[0], &va[1], &va[2])
	fmt.Sscanf(b, "%d.%d.%d", &vb[0], &vb[1], &vb[2])
	return slices.Compare(va[:], vb[:]) > 0
}
