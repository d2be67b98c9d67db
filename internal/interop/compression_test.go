package interop_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
)

// compression collects questions for Java, which one process answers.
type compression struct {
	questions bytes.Buffer
	checks    []func(answer []byte, refused bool)
}

// ask has Curator or the JDK compress or decompress data, and check look at the answer.
func (c *compression) ask(who, what string, data []byte, check func(answer []byte, refused bool)) {
	fmt.Fprintf(&c.questions, "%s %s %s\n", who, what, base64.StdEncoding.EncodeToString(data))
	c.checks = append(c.checks, check)
}

// answer runs the process and the checks.
func (c *compression) answer(t *testing.T) {
	t.Helper()
	cmd := compiled(t).command("Compression")
	var log bytes.Buffer
	cmd.Stdin, cmd.Stderr = &c.questions, &log
	endWithParent(cmd)
	runtime.LockOSThread() // see jvm.run
	defer runtime.UnlockOSThread()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(c.checks) {
		t.Fatalf("%d answers to %d questions", len(lines), len(c.checks))
	}
	for i, check := range c.checks {
		if lines[i] == "refused" {
			check(nil, true)
			continue
		}
		data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[i], "="))
		if err != nil {
			t.Fatal(err)
		}
		check(data, false)
	}
}

var compressors = []string{"curator", "jdk"}

// osByte is the byte of a header that names the operating system, 0. Curator 5.9 writes 255 there on Java 16 and newer;
// nobody reads it.
const osByte = 9

// Each reads what the other has compressed.
func TestCompression(t *testing.T) {
	t.Parallel()
	random := make([]byte, 100_000)
	source := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(source.Int())
	}
	provider := framework.GzipCompressionProvider()
	var c compression
	for _, data := range [][]byte{
		{}, {0}, []byte("hello"), bytes.Repeat([]byte("some text "), 1000), random, make([]byte, 5<<20),
	} {
		ours, err := provider.Compress("/a", data)
		if err != nil {
			t.Fatal(err)
		}
		for _, who := range compressors {
			c.ask(who, "decompress", ours, func(answer []byte, refused bool) {
				if refused || !bytes.Equal(answer, data) {
					t.Errorf("%s makes %d bytes of our %d, refused: %t", who, len(answer), len(data), refused)
				}
			})
			c.ask(who, "compress", data, func(theirs []byte, refused bool) {
				got, err := provider.Decompress("/a", theirs)
				if err != nil || !bytes.Equal(got, data) {
					t.Errorf("we make %d bytes of the %d of %s: %v", len(got), len(data), who, err)
				}
				if who == "curator" && curatorHome != "" {
					theirs[osByte] = ours[osByte]
				}
				if who == "curator" && len(data) == 0 && !bytes.Equal(theirs, ours) {
					t.Errorf("no data is %x in Java, and %x here", theirs, ours)
				}
			})
		}
	}
	c.answer(t)
}

// What is damaged, cut off or too long is refused by both, or gives the same to both.
func TestCompressionOfDamaged(t *testing.T) {
	t.Parallel()
	provider := framework.GzipCompressionProvider()
	hello, err := provider.Compress("/a", []byte("hello, hello, hello"))
	if err != nil {
		t.Fatal(err)
	}
	streams := [][]byte{append(bytes.Clone(hello), 0), append(bytes.Clone(hello), hello...)}
	for i := range hello {
		streams = append(streams, hello[:i])
		for value := range 256 {
			damaged := bytes.Clone(hello)
			damaged[i] = byte(value)
			streams = append(streams, damaged)
		}
	}
	var c compression
	for _, stream := range streams {
		c.ask("curator", "decompress", stream, func(theirs []byte, refused bool) {
			ours, err := provider.Decompress("/a", stream)
			if refused != (err != nil) || !bytes.Equal(ours, theirs) {
				t.Errorf("%x: Java has %q, refused: %t; we have %q, %v", stream, theirs, refused, ours, err)
			}
		})
	}
	c.answer(t)
}
