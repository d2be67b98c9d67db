package zk

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/retry"
)

const (
	defaultBufferSize = 1536 * 1024 // for requests
	maxFrame          = 1 << 30     // of an answer without a limit
	connectTimeout    = time.Second // that a Dialer is given
	maxTimeout        = 24 * time.Hour

	// unusedLossPercent is when a session without a place in a queue is given up because no server has answered. Servers
	// that were down, or without a quorum, take a session up again whose timeout has passed, and the driver waits for
	// them for ever. Here no watch stays silent for ever.
	unusedLossPercent = 400
)

// connOption is an option of Connect.
type connOption func(c *Conn)

// settings are what the options of Connect say.
type settings struct {
	dialer       Dialer
	hostProvider HostProvider
	callback     EventCallback
	logger       Logger
	logInfo      bool
	maxRequest   int
	maxReply     int
}

// WithDialer sets how a network connection is opened. Its third argument is a second. It gets the addresses that the
// HostProvider names. A nil dialer is net.DialTimeout, as without the option. The connections need not support deadlines,
// see framework.WithDialer.
func WithDialer(dialer Dialer) connOption {
	return func(c *Conn) { c.dialer = dialer }
}

// WithHostProvider sets who decides which server is tried next. The default is a DNSHostProvider. Its methods are called
// one after the other; while Next does not return the Conn does not connect. A nil provider is the default, as without
// the option.
func WithHostProvider(hostProvider HostProvider) connOption {
	return func(c *Conn) { c.hostProvider = hostProvider }
}

// WithEventCallback sets a function that is called for every event, one after the other, on a goroutine of its own. In
// the driver it must not block. Here it may: events wait, but of more than 1,024 the oldest are lost.
func WithEventCallback(cb EventCallback) connOption {
	return func(c *Conn) { c.callback = cb }
}

// WithLogger sets where is logged. The default is DefaultLogger.
func WithLogger(logger Logger) connOption {
	return func(c *Conn) { c.logger = logger }
}

// WithLogInfo sets whether information is logged, too, as is the default.
func WithLogInfo(logInfo bool) connOption {
	return func(c *Conn) { c.logInfo = logInfo }
}

// WithMaxBufferSize sets how many bytes an answer may have. The default, as with a value below 1, is no limit. A larger
// answer is dropped, the log says so, and its call fails with ErrConnectionClosed. In the driver the connection
// ends, and with it the calls of others; here it goes on.
func WithMaxBufferSize(maxBufferSize int) connOption {
	return func(c *Conn) { c.maxReply = maxBufferSize }
}

// WithMaxConnBufferSize sets how many bytes a request may have. The default is 1.5 MiB. A larger one is refused with
// ErrShortBuffer. The servers must permit it, too: their jute.maxbuffer is 1 MiB if nothing is set.
func WithMaxConnBufferSize(maxBufferSize int) connOption {
	return func(c *Conn) { c.maxRequest = maxBufferSize }
}

// clientOptions returns the options of the framework.Client.
func (s *settings) clientOptions(sessionTimeout time.Duration, log *logging) []framework.Option {
	return []framework.Option{
		framework.WithSessionTimeout(sessionTimeout),
		framework.WithConnectionTimeout(min(2*sessionTimeout, maxTimeout)),
		framework.WithLogger(slog.New(logHandler{to: log})),
		framework.WithoutEnsembleTracker(),
		framework.WithDialer(s.dial),
	}
}

// dial calls the Dialer, which has no context. If it has not returned when ctx ends, its connection is closed as soon as
// it has.
func (s *settings) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dial := s.dialer
	if dial == nil {
		dial = net.DialTimeout
	}
	type outcome struct {
		conn net.Conn
		err  error
	}
	dialed := make(chan outcome)
	go func() {
		o := outcome{err: errors.New("the Dialer has ended its goroutine")}
		defer func() {
			select {
			case dialed <- o:
			case <-ctx.Done():
				if o.conn != nil {
					_ = o.conn.Close() // nobody wants it
				}
			}
		}()
		o.conn, o.err = dial(network, address, connectTimeout)
	}()
	select {
	case o := <-dialed:
		return o.conn, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// sessionSettings sets what package framework has no option for.
func (s *settings) sessionSettings(cfg *zkconn.Config, begun <-chan struct{}) {
	cfg.Order = order{s.hostProvider, begun}
	cfg.UnusedLossPercent = unusedLossPercent
	cfg.MaxRequest = s.maxRequest - 4 // the length is in the buffer, too
	cfg.MaxReply = s.maxReply
	if cfg.MaxReply <= 0 {
		cfg.MaxReply = maxFrame
	}
}

// order is a HostProvider as the session layer sees it. It is asked when the events of attempts can be told.
type order struct {
	HostProvider
	begun <-chan struct{}
}

// Next returns the server to be tried next.
func (o order) Next() (server string, retryStart bool) {
	<-o.begun
	return o.HostProvider.Next()
}

// policy is the retry policy of the client of Connect: of the recipes that a program has on it. The calls of a Conn are
// tried once.
func policy() retry.Policy { return retry.ExponentialBackoff(100*time.Millisecond, 5) }

// logging passes what a client logs on to a Logger.
type logging struct {
	logger atomic.Pointer[Logger]
	info   bool // information, too
}

func (l *logging) set(logger Logger) {
	if logger == nil {
		logger = DefaultLogger
	}
	l.logger.Store(&logger)
}

func (l *logging) printf(format string, args ...any) { (*l.logger.Load()).Printf(format, args...) }

// logHandler is the slog.Handler of a client's logging.
type logHandler struct {
	to    *logging
	attrs string
	group string
}

func (h logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || level == slog.LevelInfo && h.to.info
}

func (h logHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(text(h.group, a))
		return true
	})
	h.to.printf("%s", b.String())
	return nil
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.attrs += text(h.group, a)
	}
	return h
}

func (h logHandler) WithGroup(name string) slog.Handler {
	if name != "" {
		h.group += name + "."
	}
	return h
}

func text(group string, a slog.Attr) string { return " " + group + a.Key + "=" + a.Value.String() }
