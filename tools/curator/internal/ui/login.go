package ui

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

const (
	loginLife   = 12 * time.Hour
	maxLogins   = 1000
	maxFailures = 10 // wrong secrets from one address in failureSpan
	failureSpan = time.Minute
	maxLogin    = 4 << 10         // the maximum size of a request in bytes
	loginTime   = 5 * time.Second // the time for the rest of a request
)

// NewSecret returns a secret that cannot be guessed.
func NewSecret() string {
	var bytes [24]byte
	_, _ = rand.Read(bytes[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(bytes[:])
}

// login is a browser that has sent the secret.
type login struct {
	number  int
	expires time.Time
}

// logins are the browsers that are signed in.
type logins struct {
	secret [sha256.Size]byte // the hash of the secret, so that all comparisons have the same length
	cookie string            // the cookie's name, with the port, because browsers share cookies between ports
	secure bool

	mu       sync.Mutex
	list     map[[sha256.Size]byte]login // by the hash of the cookie's value
	number   int
	failures map[string]*failures // by address
}

type failures struct {
	count int
	since time.Time
}

func newLogins(secret, port string, secure bool) *logins {
	l := &logins{
		secret: sha256.Sum256([]byte(secret)), cookie: "curator-ui-" + port, secure: secure,
		list: map[[sha256.Size]byte]login{}, failures: map[string]*failures{},
	}
	if secure {
		l.cookie = "__Host-" + l.cookie
	}
	return l
}

// enter exchanges the secret for a cookie. The number of concurrent requests has no limit but that of
// connections: a request costs little, and with a limit those that are sent slowly would keep others out.
func (l *logins) enter(w http.ResponseWriter, r *http.Request) error {
	var request struct{ Secret string }
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(loginTime)); err != nil {
		return err
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxLogin)).Decode(&request); err != nil {
		return refuse(http.StatusBadRequest, "The request cannot be read.")
	}
	address, now := groupOf(r.RemoteAddr), time.Now()
	if !l.mayTry(address, now) {
		return refuse(http.StatusTooManyRequests, "There were too many wrong secrets. Wait for a minute.")
	}
	given := sha256.Sum256([]byte(request.Secret))
	if subtle.ConstantTimeCompare(given[:], l.secret[:]) != 1 {
		return refuse(http.StatusUnauthorized, "This is not the secret.")
	}
	l.wasRight(address)
	value := NewSecret()
	if !l.add(value, now) {
		return refuse(http.StatusServiceUnavailable, "Too many browsers are signed in.")
	}
	countSignedIn(r.Context())
	http.SetCookie(w, l.newCookie(value, int(loginLife.Seconds())))
	reply(w, http.StatusOK, struct{}{})
	return nil
}

// leave makes a cookie invalid.
func (l *logins) leave(w http.ResponseWriter, r *http.Request) error {
	if cookie, err := r.Cookie(l.cookie); err == nil {
		l.mu.Lock()
		delete(l.list, sha256.Sum256([]byte(cookie.Value)))
		l.mu.Unlock()
	}
	http.SetCookie(w, l.newCookie("", -1))
	reply(w, http.StatusOK, struct{}{})
	return nil
}

func (l *logins) newCookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // without TLS the page is on loopback, and browsers would not send a Secure cookie
		Name: l.cookie, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: l.secure, SameSite: http.SameSiteStrictMode,
	}
}

// add adds a login with a cookie's value. It returns false if there are too many logins.
func (l *logins) add(value string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, known := range l.list {
		if now.After(known.expires) {
			delete(l.list, key)
		}
	}
	if len(l.list) >= maxLogins {
		return false
	}
	l.number++
	l.list[sha256.Sum256([]byte(value))] = login{l.number, now.Add(loginLife)}
	return true
}

// of returns the login of a request, and whether there is one.
func (l *logins) of(r *http.Request) (login, bool) {
	cookie, err := r.Cookie(l.cookie)
	if err != nil {
		return login{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.list[sha256.Sum256([]byte(cookie.Value))]
	return found, ok && time.Now().Before(found.expires)
}

// needed passes on the requests of browsers that are signed in.
func (l *logins) needed(next http.Handler) http.Handler {
	return handler(func(w http.ResponseWriter, r *http.Request) error {
		if _, ok := l.of(r); !ok {
			return refuse(http.StatusUnauthorized, "Sign in with the secret that curator ui has printed.")
		}
		countSignedIn(r.Context())
		next.ServeHTTP(w, r)
		return nil
	})
}

// mayTry counts a try as a failure until wasRight. It returns false if an address has sent too many
// wrong secrets.
func (l *logins) mayTry(address string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.failures[address]
	if f == nil || now.Sub(f.since) >= failureSpan {
		if len(l.failures) >= maxLogins {
			clear(l.failures)
		}
		f = &failures{since: now}
		l.failures[address] = f
	}
	if f.count >= maxFailures {
		return false
	}
	f.count++
	return true
}

func (l *logins) wasRight(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.failures[address]; f != nil {
		f.count--
	}
}
