//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write the transcripts anew")

// runHere runs the tool in this process.
func runHere(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var files [3]*os.File
	for i := range files {
		f, err := os.Create(filepath.Join(t.TempDir(), strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	code = run(context.Background(), args, files, append(cleanEnv(), env...), "")
	var texts [3]string
	for i, f := range files {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	return code, texts[1], texts[2]
}

// TestTranscripts runs the transcripts in testdata. A line with $ is a command, and lines with %
// before it are entries of its environment. After it, > is a line of stdout, ! a line of stderr, and
// = the exit code. Words in quotes have Go's syntax. With -rewrite the test writes the results into
// the transcripts.
func TestTranscripts(t *testing.T) {
	checkTranscripts(t, "testdata/*.txt", nil, func(text string) string { return text })
}

// TestServerTranscripts runs the transcripts of commands that need a server. Texts that differ
// between runs, such as times, are replaced.
func TestServerTranscripts(t *testing.T) {
	s := newEmbeddedServer(t)
	differs := strings.NewReplacer(s.connect, "SERVER")
	number := regexp.MustCompile(`0x[0-9a-f]+`)
	date := regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)
	age := regexp.MustCompile(`(  |due in )(\d+h\d+m)?\d+s\b`)
	checkTranscripts(t, "testdata/server/*.txt", []string{"CURATOR_CONNECT=" + s.connect}, func(text string) string {
		return age.ReplaceAllString(number.ReplaceAllString(date.ReplaceAllString(differs.Replace(text), "TIME"), "0xN"), "${1}Ns")
	})
}

// checkTranscripts replays the transcripts in files. env is the environment of all commands, before
// the entries of a transcript.
func checkTranscripts(t *testing.T, pattern string, env []string, mask func(text string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := mask(replay(t, string(text), env))
		switch {
		case *rewrite:
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		case got != string(text):
			t.Errorf("%s: got\n%s", file, got)
		}
	}
}

// replay runs the commands of a transcript, and returns the transcript with their results.
func replay(t *testing.T, transcript string, common []string) string {
	t.Helper()
	var b strings.Builder
	var env []string
	for line := range strings.Lines(transcript) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch kind {
		case ">", "!", "=": // the results of an earlier run
			continue
		case "%":
			env = append(env, rest)
		}
		b.WriteString(line)
		if kind != "$" {
			continue
		}
		code, stdout, stderr := runHere(t, slices.Concat(common, env), words(t, rest)[1:]...)
		for line := range strings.Lines(stdout) {
			b.WriteString("> " + strings.TrimSuffix(line, "\n") + "\n")
		}
		for line := range strings.Lines(stderr) {
			b.WriteString("! " + line)
		}
		fmt.Fprintf(&b, "= %d\n", code)
		env = nil
	}
	return b.String()
}

// words splits a command line.
func words(t *testing.T, line string) []string {
	t.Helper()
	var list []string
	for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimSpace(rest) {
		word, after, _ := strings.Cut(rest, " ")
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			word, after = quoted, rest[len(quoted):]
			if word, err = strconv.Unquote(word); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, word)
		rest = after
	}
	return list
}

func TestHelp(t *testing.T) {
	code, help, stderr := runHere(t, nil, "lock", "--help")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, stderr %q", code, stderr)
	}
	for _, text := range []string{
		"kill -STOP", "CURATOR_FENCING_TOKEN", "CURATOR_LOCK_PATH", "CURATOR_CONNECT", "128+n",
		"64 ", "69 ", "70 ", "75 ", "76 ", "77 ", "124 ", "126 ", "127 ",
		"--timeout", "--try", "-E, --conflict-exit-code", "--grace", "--session-timeout", "--connect", "--embedded", "--max-hold",
	} {
		if !strings.Contains(help, text) {
			t.Errorf("the help does not have %q", text)
		}
	}
	all := [][]string{{"--help"}, {"help"}, {"help", "lock"}, {"--version"}}
	for _, cmd := range newProgram().command().Commands() {
		all = append(all, []string{cmd.Name(), "--help"})
	}
	for _, args := range all {
		code, stdout, stderr := runHere(t, nil, args...)
		if code != 0 || stdout == "" || stderr != "" {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
		for line := range strings.Lines(stdout) {
			if len(line) > 81 {
				t.Errorf("%q: wider than 80 columns: %s", args, line)
			}
		}
	}
}

// wantUnavailable runs curator lock with a connect string of servers that do not answer. It checks
// the exit code, the message and the time.
func wantUnavailable(t *testing.T, within time.Duration, text, connect string, flags ...string) {
	t.Helper()
	begun := time.Now()
	code, stdout, stderr := runHere(t, nil, append(append([]string{"lock", "--connect", connect}, flags...), "/lock", "--", "echo", "in")...)
	took := time.Since(begun)
	if code != 69 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, text) {
		t.Errorf("%s: exit code %d, stdout %q, stderr %q", connect, code, stdout, stderr)
	}
	if took > within {
		t.Errorf("%s: it took %v", connect, took)
	}
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	nobody, nobodyElse := freeAddress(t), freeAddress(t)
	wantUnavailable(t, late, "nothing listens at "+nobody+"; name the ensemble with --connect HOSTS or CURATOR_CONNECT, or start a development server with --embedded", nobody)
	if code, _, stderr := runHere(t, nil, "ls", "--connect", nobody); code != 69 || !strings.Contains(stderr, "or start a development server with curator server") {
		t.Errorf("ls: exit code %d, stderr %q", code, stderr)
	}
	wantUnavailable(t, late, "nothing listens at "+nobodyElse, nobody+","+nobodyElse)
	// The message and the time depend on the resolver.
	wantUnavailable(t, 30*time.Second, "no-such-host.invalid", "no-such-host.invalid")

	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	wantUnavailable(t, late, "is not a ZooKeeper server: it answers \"HTTP/1.1", strings.TrimPrefix(web.URL, "http://"))
	wantUnavailable(t, late, "nothing listens at "+nobody, strings.TrimPrefix(web.URL, "http://")+","+nobody)
	wantUnavailable(t, late, "is not a ZooKeeper server: it answers \"SSH-2.0-", talker(t, "SSH-2.0-OpenSSH_9.2p1\r\n"))

	// A server that accepts connections and is silent may still answer, so the command waits.
	mute := talker(t, "")
	wantUnavailable(t, late, "no ZooKeeper server answered at "+mute+" within 700ms", mute, "--timeout=700ms")
}

// talker returns the address of a server that sends text on each connection, and nothing else.
func talker(t *testing.T, text string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				io.WriteString(conn, text)
				io.Copy(io.Discard, conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		wg.Wait()
	})
	return listener.Addr().String()
}
