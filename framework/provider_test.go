package framework_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
)

// provider is an EnsembleProvider that counts what it is asked.
type provider struct {
	mu       sync.Mutex
	answer   string
	asked    int
	started  int
	closed   int
	startErr error
	closeErr error
	onStart  func(ctx context.Context)
	onAsk    func()
}

func (p *provider) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started++
	if p.onStart != nil {
		p.onStart(ctx)
	}
	return p.startErr
}

func (p *provider) ConnectString() string {
	p.mu.Lock()
	p.asked++
	answer, onAsk := p.answer, p.onAsk
	p.mu.Unlock()
	if onAsk != nil {
		onAsk()
	}
	return answer
}

func (p *provider) Close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed++
	return errors.Join(p.closeErr, ctx.Err())
}

// says changes the answer and returns how often it was asked for until then.
func (p *provider) says(answer string) (asked int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
	asked, p.asked = p.asked, 0
	return asked
}

// wantLife checks how often it was started and closed.
func (p *provider) wantLife(t *testing.T, started, closed int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started != started || p.closed != closed {
		t.Errorf("it was started %d times and closed %d times, want %d and %d", p.started, p.closed, started, closed)
	}
}

// TestEnsembleProvider has an ensemble move while the connection works, and while there is none.
func TestEnsembleProvider(t *testing.T) {
	onAtlas(t, "", func(a *atlas) {
		if _, err := a.writer.Create().ForPath(a.Context(), "/app"); err != nil {
			a.Fatal(err)
		}
		p := &provider{answer: "a"}
		client := a.client("/app", framework.WithEnsembleProvider(p), framework.WithNamespace("space"))
		if _, err := client.Create().ForPath(a.Context(), "/node"); err != nil {
			a.Fatal(err)
		}
		if _, ok := a.server.Get("/app/space/node"); !ok {
			a.Error("the chroot is not that of the connect string")
		}
		session := client.SessionID()
		time.Sleep(time.Minute)
		if n := p.says("b:1,b:1"); n != 1 {
			a.Errorf("it was asked %d times while the connection worked", n)
		}
		a.wantDials("at the start", "a:2181")

		a.shut("a:2181", "b:1")
		a.cut()
		time.Sleep(10 * time.Second)
		for _, answer := range []string{"", "c:1/app", "c:1,,"} {
			if n := p.says(answer); n < 2 || n > 4 {
				a.Errorf("in 10 s without a connection it was asked %d times", n)
			}
			time.Sleep(10 * time.Second)
		}
		p.says("c:1")
		time.Sleep(5 * time.Second)
		if id := client.SessionID(); id == 0 || id == session {
			a.Errorf("after 45 s the session is 0x%x, was 0x%x", id, session)
		}
		a.mu.Lock()
		last := a.dialed[len(a.dialed)-1]
		a.mu.Unlock()
		if last != "c:1" {
			a.Errorf("the last server dialed is %s", last)
		}
		p.wantLife(a.T, 1, 0)
		if err := client.Close(a.Context()); err != nil {
			a.Error(err)
		}
		p.wantLife(a.T, 1, 1)
		if err := client.Close(a.Context()); err != nil {
			a.Error(err)
		}
		p.wantLife(a.T, 1, 1)
	})
}

// TestEnsembleProviderAtStart has it fail, name nothing, and name a chroot.
func TestEnsembleProviderAtStart(t *testing.T) {
	for _, connect := range []string{"a:2181", "a:2181/app", ",", " ", "/a//b", "/app/"} {
		if _, err := framework.NewClient(connect, retry.None(), framework.WithEnsembleProvider(&provider{})); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("connect string %q: %v", connect, err)
		}
	}
	if _, err := framework.NewClient("", retry.None(), framework.WithEnsembleProvider(nil)); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("no provider: %v", err)
	}

	p := &provider{startErr: errors.New("no news"), closeErr: errors.New("no end")}
	client, err := framework.NewClient("", retry.None(), framework.WithEnsembleProvider(p))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(t.Context()); !errors.Is(err, p.startErr) || client.State() != framework.Latent {
		t.Errorf("Start: %v, %v", err, client.State())
	}
	p.wantLife(t, 1, 0)
	p.startErr = nil
	for i, answer := range []string{"", "a:2181/app", "a:x"} {
		p.says(answer)
		err := client.Start(t.Context())
		if !errors.Is(err, framework.ErrInvalidOption) || !errors.Is(err, p.closeErr) || client.State() != framework.Latent {
			t.Errorf("Start: %v, %v", err, client.State())
		}
		p.wantLife(t, i+2, i+1)
	}
	ended, cancel := context.WithCancel(t.Context())
	p.onStart = func(context.Context) { cancel() }
	if err := client.Start(ended); !errors.Is(err, framework.ErrInvalidOption) || errors.Is(err, context.Canceled) {
		t.Errorf("Start whose context ends: %v", err) // Close has its time all the same
	}
	p.says("127.0.0.1:1")
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.Start(t.Context()); !errors.Is(err, framework.ErrAlreadyStarted) {
		t.Errorf("a second Start: %v", err)
	}
	if err := client.Close(ended); !errors.Is(err, p.closeErr) || errors.Is(err, context.Canceled) {
		t.Errorf("Close: %v", err)
	}
	p.wantLife(t, 6, 5)
}

// TestCloseWhileTheProviderStarts has other calls come while Start waits for the provider.
func TestCloseWhileTheProviderStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered, leave := make(chan struct{}), make(chan struct{})
		p := &provider{answer: "a:1", onStart: func(context.Context) {
			close(entered)
			<-leave
		}}
		client, err := framework.NewClient("", retry.None(), framework.WithEnsembleProvider(p))
		if err != nil {
			t.Fatal(err)
		}
		started := make(chan error)
		go func() { started <- client.Start(t.Context()) }()
		<-entered
		if err := client.Start(t.Context()); !errors.Is(err, framework.ErrAlreadyStarted) {
			t.Errorf("a second Start: %v", err)
		}
		if s := client.State(); s != framework.Latent {
			t.Errorf("the state is %v", s)
		}
		if err := client.Close(t.Context()); err != nil {
			t.Error(err)
		}
		close(leave)
		if err := <-started; !errors.Is(err, framework.ErrClosed) {
			t.Errorf("Start: %v", err)
		}
		p.wantLife(t, 1, 1)
	})
}

// TestProviderThatHangs has a provider not return while the client is closed: that is said,
// and holds nothing up.
func TestProviderThatHangs(t *testing.T) {
	onAtlas(t, "", func(a *atlas) {
		p := &provider{answer: "a:1"}
		client := a.client("", framework.WithEnsembleProvider(p))
		release := make(chan struct{})
		p.mu.Lock()
		p.onAsk = func() { <-release }
		p.mu.Unlock()
		a.cut()
		if _, err := client.CheckExists().ForPath(a.Context(), "/"); err != nil {
			a.Error(err)
		}
		begin := time.Now()
		if err := client.Close(a.Context()); err == nil || !strings.Contains(err.Error(), "have not returned") {
			a.Errorf("Close: %v", err)
		}
		if d := time.Since(begin); d > 2*time.Second {
			a.Errorf("Close took %v", d)
		}
		p.wantLife(a.T, 1, 1)
		close(release)
	})
}

// TestSetServersDuringDial has a provider name another server when the connection is lost,
// while the driver already dials the one that it had, which still accepts: the client must
// not stay there.
func TestSetServersDuringDial(t *testing.T) {
	onAtlas(t, "", func(a *atlas) {
		p := &provider{answer: "a:1"}
		client := a.client("", framework.WithEnsembleProvider(p))
		a.wantDials("at the start", "a:1")
		p.says("b:1")
		a.cut()
		time.Sleep(time.Minute)
		a.mu.Lock()
		defer a.mu.Unlock()
		if last := a.dialed[len(a.dialed)-1]; last != "b:1" || !client.ConnectionState().IsConnected() {
			a.Errorf("a minute later the client is %v; dialed %v, want b:1 last", client.ConnectionState(), a.dialed)
		}
	})
}
