package zkserver_test

import (
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/internal/zkserver/tree"
	"github.com/go-curator/curator/tools/curatortest"
)

var (
	numbers  = regexp.MustCompile(`0x[0-9a-f]+|\d+(\.\d+)?`)
	versions = regexp.MustCompile(`3\.[89]\.\d[^\n]*`)
)

// answers returns what a server with three clients answers to four-letter words, line by
// line, with the version and numbers masked.
func answers(t *testing.T, server string) map[string][]string {
	t.Helper()
	for i := range 3 {
		conn, err := net.Dial("tcp", server)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		c, err := rawclient.Connect(conn, jute.ConnectRequest{TimeOut: 10000})
		if err != nil {
			t.Fatal(err)
		}
		do(t, c, jute.OpAddWatch, &jute.AddWatchRequest{Path: "/watched"})
		do(t, c, jute.OpGetChildren, &jute.PathWatchRequest{Path: "/", Watch: true})
		switch i {
		case 1:
			do(t, c, jute.OpCreate2, newNode("/words", "some data", jute.FlagEphemeral))
		case 2:
			if _, err := c.Do(jute.OpDelete, &jute.DeleteRequest{Path: "/none"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := map[string][]string{}
	for _, word := range []string{"ruok", "isro", "srvr", "stat", "cons", "wchs", "conf", "mntr", "envi", "xxxx", "RUOK", "ruok\n", "ruokruok"} {
		answer := versions.ReplaceAllString(ask(t, server, word), "VERSION")
		if word != "wchs" {
			answer = numbers.ReplaceAllString(answer, "N")
		}
		all[word] = strings.Split(answer, "\n")
	}
	// Connections come in any order.
	slices.Sort(all["cons"])
	slices.Sort(all["stat"])
	return all
}

// keys returns what is before a separator in each line.
func keys(lines []string, separator string) []string {
	var all []string
	for _, line := range lines {
		key, _, _ := strings.Cut(line, separator)
		all = append(all, key)
	}
	return all
}

// TestFourLetterWords compares the answers of an embedded server with those of a real one.
func TestFourLetterWords(t *testing.T) {
	real := directAddress(t, curatortest.Real(t, curatortest.WithTickTime(tick)).ConnectString())
	want := answers(t, real)
	got := answers(t, curatortest.Start(t, curatortest.WithTickTime(tick), answeringAs(releaseOf(t, real))).ConnectString())

	// There are no directories here, and no Java.
	want["conf"] = slices.DeleteFunc(want["conf"], func(line string) bool { return strings.HasPrefix(line, "data") })
	for _, lines := range []map[string][]string{want, got} {
		lines["envi"] = keys(lines["envi"], "=")
	}
	// What is measured here is a part of what ZooKeeper measures, in the same order.
	measured := map[string]bool{}
	for _, key := range keys(got["mntr"], "\t") {
		measured[key] = true
	}
	want["mntr"] = slices.DeleteFunc(want["mntr"], func(line string) bool { return !measured[keys([]string{line}, "\t")[0]] })

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ZooKeeper (-) and the embedded server (+):\n%s", diff)
	}
}

// TestVersion looks at the version in every answer that has it: in ZooKeeper's form, with the
// release that the server follows and its own name.
func TestVersion(t *testing.T) {
	testVersion(t, "3.8.0")
	for _, release := range tree.Releases() {
		testVersion(t, release.String(), answeringAs(release))
	}
}

func testVersion(t *testing.T, release string, options ...curatortest.Option) {
	t.Helper()
	server := curatortest.Start(t, options...).ConnectString()
	form := regexp.MustCompile(`^` + regexp.QuoteMeta(release) + `-curator-for-go-embedded, built on \d{4}-\d\d-\d\d \d\d:\d\d UTC$`)
	for word, before := range map[string]string{
		"srvr": "Zookeeper version: ", "stat": "Zookeeper version: ", "mntr": "zk_version\t", "envi": "zookeeper.version=",
	} {
		_, rest, ok := strings.Cut(ask(t, server, word), before)
		if version, _, _ := strings.Cut(rest, "\n"); !ok || !form.MatchString(version) {
			t.Errorf("%s: version %q", word, version)
		}
	}
}

// TestWordsThatAreNotAnswered asks what ZooKeeper knows, and the embedded server does not
// answer, as a ZooKeeper whose white list lacks it.
func TestWordsThatAreNotAnswered(t *testing.T) {
	server := curatortest.Start(t).ConnectString()
	for _, word := range []string{"crst", "dirs", "dump", "gtmk", "hash", "srst", "stmk", "wchc", "wchp"} {
		if got := ask(t, server, word); got != word+" is not executed because it is not in the whitelist.\n" {
			t.Errorf("%s: %q", word, got)
		}
	}
}
