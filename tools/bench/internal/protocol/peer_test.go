package protocol_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

// asked is the environment variable that makes the test's own program a peer.
const asked = "PROTOCOL_TEST_PEER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asked); kind != "" {
		os.Exit(peer(kind))
	}
	goleak.VerifyTestMain(m)
}

// peer runs a peer of a kind, and returns its exit code.
func peer(kind string) int {
	switch kind {
	case "rude":
		fmt.Println("hello")
	case "dies at once":
		fmt.Fprintln(os.Stderr, "no server")
		return 1
	default:
		fmt.Println(protocol.Ready)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch kind {
		case "dies":
			fmt.Fprintln(os.Stderr, strings.Repeat("noise\n", 2000)+"last words")
			return 1
		case "babbles":
			fmt.Println("well...")
		case "hangs":
			<-time.After(time.Hour) // select {} would end the program: it has no other goroutines
		case "cannot stop":
			for {
				fmt.Print(strings.Repeat("{}\n", 1<<20))
			}
		case "long": // a line that is too long for a bufio.Scanner
			fmt.Println(`{"operations":7,"latencies_ns":[1` + strings.Repeat(",1234567", 100_000) + `]}`)
		default:
			fmt.Println(`{"operations":7,"error":"` + kind + `"}`)
		}
	}
	if kind == "ends badly" {
		return 2
	}
	return 0
}

func command(kind string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asked+"="+kind)
	return cmd
}

func start(t *testing.T, kind string) *protocol.Peer {
	t.Helper()
	p, err := protocol.Start(t.Context(), command(kind))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestPeerAnswers(t *testing.T) {
	p := start(t, "long")
	for range 2 {
		result, err := p.Run(t.Context(), protocol.Request{Workload: protocol.Solo})
		if err != nil || result.Operations != 7 || len(result.LatenciesNS) != 100_001 {
			t.Fatalf("%d operations, %d latencies, %v", result.Operations, len(result.LatenciesNS), err)
		}
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestPeerHasAnError(t *testing.T) {
	if _, err := start(t, "unsupported workload").Run(t.Context(), protocol.Request{}); !errors.Is(err, protocol.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := start(t, "broken").Run(t.Context(), protocol.Request{}); err == nil || err.Error() != "broken" {
		t.Error(err)
	}
}

func TestPeerFails(t *testing.T) {
	for kind, want := range map[string]string{
		"dies":    "the peer has ended: exit status 1\n",
		"babbles": `the peer has answered "well..."`,
	} {
		t.Run(kind, func(t *testing.T) {
			_, err := start(t, kind).Run(t.Context(), protocol.Request{})
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Fatal(err)
			}
			if kind == "dies" && (!strings.Contains(err.Error(), "last words") || len(err.Error()) > 5000) {
				t.Errorf("%d bytes: %v", len(err.Error()), err)
			}
		})
	}
}

func TestPeerIsNotReady(t *testing.T) {
	for kind, want := range map[string]string{
		"rude":         `"hello" before it was ready`,
		"dies at once": "no server",
	} {
		t.Run(kind, func(t *testing.T) {
			if _, err := protocol.Start(t.Context(), command(kind)); err == nil || !strings.Contains(err.Error(), want) {
				t.Error(err)
			}
		})
	}
	if _, err := protocol.Start(t.Context(), exec.Command(t.TempDir()+"/absent")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestContextEndsPeer(t *testing.T) {
	p := start(t, "hangs")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Run(ctx, protocol.Request{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Error(err)
	}
	if _, err := p.Run(t.Context(), protocol.Request{}); err == nil {
		t.Error("it answers, although it has been killed")
	}
}

func TestContextEndsPeerThatCannotStop(t *testing.T) {
	p := start(t, "cannot stop")
	if _, err := p.Run(t.Context(), protocol.Request{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for { // the first request may still be answered
		if _, err := p.Run(ctx, protocol.Request{}); err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			return
		}
	}
}

// TestKill kills a peer during a request. The request fails, and Close returns no error.
func TestKill(t *testing.T) {
	p := start(t, "hangs")
	var wg sync.WaitGroup
	var err error
	wg.Go(func() { _, err = p.Run(t.Context(), protocol.Request{}) })
	p.Kill()
	wg.Wait()
	if err == nil {
		t.Error("a peer that was killed has answered")
	}
	p.Kill()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseTellsHowThePeerEnded(t *testing.T) {
	if err := start(t, "ends badly").Close(); err == nil || !strings.Contains(err.Error(), "exit status 2") {
		t.Error(err)
	}
}
