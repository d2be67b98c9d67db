package demo

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/tools/curator/internal/screen"
	"github.com/go-curator/curator/tools/curator/internal/view"
)

var rewrite = flag.Bool("rewrite", false, "write the picture anew, of a story that is played now")

const description = "Three queues of workers, for a mutex, a read-write lock and an election, each with the holder, its token, and the waiters. " +
	"Below them the last events: the leader was killed, and another worker leads; a worker that held the mutex was frozen and lost the mutex to another worker with a higher token, and its late write was refused."

// TestPicture compares docs/images/demo.svg with the picture of the scene in testdata. The tokens and
// times differ from one run of the story to the next. So only with -rewrite the test plays the story,
// in virtual time, and writes both files.
func TestPicture(t *testing.T) {
	const picture, recorded, columns, rows = "../../../../docs/images/demo.svg", "testdata/scene.json", 88, 29
	if *rewrite {
		text, err := json.MarshalIndent(record(t), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, recorded, append(text, '\n'))
	}
	text, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	var s scene
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	got := screen.SVG(s.lines(rows), columns, "curator demo", description)
	if *rewrite {
		writeFile(t, picture, []byte(got))
	}
	want, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is out of date: go test ./tools/curator/internal/demo -run TestPicture -rewrite", picture)
	}
}

// record plays the story until the late write was refused, and returns the scene a little later. It
// replaces values that depend on this machine.
func record(t *testing.T) (s scene) {
	synctest.Test(t, func(t *testing.T) {
		fleet := start(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- fleet.Play(ctx) }()
		for refused := false; !refused; {
			changed := fleet.Changed()
			events, _ := fleet.Events(0)
			if refused = slices.ContainsFunc(events, func(e Event) bool { return e.Kind == Refused }); !refused {
				<-changed
			}
		}
		time.Sleep(900 * time.Millisecond)
		var err error
		if s, err = fleet.look(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		<-ended
	})
	s.Connect = "127.0.0.1:40183" // any port
	for _, queue := range s.Queues {
		for _, list := range [][]view.Contender{queue.Holders, queue.Waiters} {
			for i, c := range list {
				list[i] = view.Contender{Label: nameOf(c), Token: c.Token}
			}
		}
	}
	return s
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
}
