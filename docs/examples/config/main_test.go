package main

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/tools/curatortest"
)

func TestFollows(t *testing.T) {
	server := curatortest.Start(t)
	client := server.Client(t)
	s := newSettings()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, server.ConnectString(), s) }()

	if got := s.limits().RequestsPerSecond; got != 10 {
		t.Errorf("without a node: %d", got)
	}
	if _, err := client.Create().CreatingParentsIfNeeded().WithData([]byte(`{"requestsPerSecond": 50}`)).ForPath(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	await(t, s, 50)
	for _, step := range []struct {
		data string
		want int
	}{
		{`{"requestsPerSecond": 80}`, 80},
		{`{"requestsPerSecond": -1}`, 80},
		{`no JSON`, 80},
		{`{"requestsPerSecond": 90}`, 90},
	} {
		if _, err := client.SetData().ForPath(t.Context(), path, []byte(step.data)); err != nil {
			t.Fatal(err)
		}
		await(t, s, step.want)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// await waits until the settings have a value.
func await(t *testing.T, s *settings, want int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ctx := t.Context(); s.limits().RequestsPerSecond != want; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%d, want %d", s.limits().RequestsPerSecond, want)
		}
	}
}
