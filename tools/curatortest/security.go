package curatortest

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// TLS says how real servers encrypt the connections of clients; see [WithTLS]. The zero value
// asks clients for no certificate.
type TLS struct {
	// ClientAuth says whether clients present a certificate, which the servers verify:
	// tls.NoClientCert, tls.VerifyClientCertIfGiven or tls.RequireAndVerifyClientCert. They
	// are ZooKeeper's ssl.clientAuth none, want and need.
	ClientAuth tls.ClientAuthType

	// Server is the certificate of every server.
	Server Certificate
}

// security is what a real server is told about its clients.
type security struct {
	tls          *TLS // nil without TLS
	authority    *authority
	ownConfig    *tls.Config       // with which this package itself talks to the servers
	users        map[string]string // passwords by names; nil without SASL
	saslRequired bool
	readOnly     bool
}

// clientAuths are ZooKeeper's words.
var clientAuths = map[tls.ClientAuthType]string{
	tls.NoClientCert: "none", tls.VerifyClientCertIfGiven: "want", tls.RequireAndVerifyClientCert: "need",
}

// mistake returns the option that n servers cannot have, and why; "" if there is none.
func (s security) mistake(n int) (option, why string) {
	switch {
	case s.tls != nil && clientAuths[s.tls.ClientAuth] == "":
		return "WithTLS", fmt.Sprintf("ZooKeeper has nothing like ClientAuth %v", s.tls.ClientAuth)
	case s.saslRequired && s.users == nil:
		return "WithSASLRequired", "there are no users: see WithSASL"
	case s.readOnly && n == 1:
		return "WithReadOnlyMode", "a server that is alone has no quorum to lose"
	}
	if s.users != nil {
		return "WithSASL", usersMistake(s.users)
	}
	return "", ""
}

// usersMistake returns why a JAAS file cannot have these users, or "".
func usersMistake(users map[string]string) string {
	for name, password := range users {
		other := func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
		}
		switch {
		case name == "" || strings.ContainsFunc(name, other) || !utf8.ValidString(name):
			return fmt.Sprintf("the user %q: a name has letters, digits, _, - and . only", name)
		case password == "" || strings.ContainsFunc(password, unicode.IsControl) || !utf8.ValidString(password):
			return fmt.Sprintf("the password of %s is empty, or has control characters", name)
		case strings.Contains(password, "${"):
			return fmt.Sprintf("the password of %s has ${ in it, which Java replaces", name)
		}
	}
	return ""
}

// embeddedMistake returns the option that the embedded server cannot have, "" if there is
// none.
func (s security) embeddedMistake() string {
	switch {
	case s.tls != nil:
		return "WithTLS"
	case s.users != nil:
		return "WithSASL"
	case s.saslRequired:
		return "WithSASLRequired"
	case s.readOnly:
		return "WithReadOnlyMode"
	}
	return ""
}

// prepare makes what all servers of an ensemble share.
func (s *security) prepare() error {
	if s.tls == nil {
		return nil
	}
	var err error
	if s.authority, err = newAuthority(); err != nil {
		return err
	}
	own, err := s.authority.issue(Certificate{})
	// The servers may have certificates that are not to be trusted.
	s.ownConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{own}, InsecureSkipVerify: true} //nolint:gosec // see above
	return err
}

// extras are what options add to a server.
type extras struct {
	settings   string // lines of zoo.cfg
	properties []string
	files      map[string][]byte // by their names in the server's folder
	securePort int               // for TLS; 0 without
	ownConfig  *tls.Config       // see security
	readOnly   bool              // without a quorum
}

// write writes the files.
func (x extras) write(dir string) error {
	for name, content := range x.files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// secureMode is serverMode for the port for TLS.
func (x extras) secureMode() (string, error) {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Second}, "tcp", local(x.securePort), x.ownConfig)
	if err != nil {
		return "", err
	}
	return askMode(conn)
}

// extras returns what a server needs whose files are in dir, and which listens for TLS, if it
// does, on securePort.
func (s security) extras(dir string, securePort int) (extras, error) {
	x := extras{files: map[string][]byte{}, readOnly: s.readOnly}
	if s.tls != nil {
		x.securePort, x.ownConfig = securePort, s.ownConfig
		certificate, err := s.authority.issue(s.tls.Server)
		if err != nil {
			return x, err
		}
		if x.files["server.pem"], err = keyStorePEM(certificate); err != nil {
			return x, err
		}
		x.files["trust.pem"] = s.authority.trustPEM()
		x.settings += fmt.Sprintf(`serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory
secureClientPort=%d
secureClientPortAddress=127.0.0.1
ssl.clientAuth=%s
ssl.keyStore.location=%s
ssl.trustStore.location=%s
`, securePort, clientAuths[s.tls.ClientAuth], filepath.Join(dir, "server.pem"), filepath.Join(dir, "trust.pem"))
	}
	if s.users != nil {
		x.files["jaas.conf"] = jaas(s.users)
		x.properties = append(x.properties, "-Djava.security.auth.login.config="+filepath.Join(dir, "jaas.conf"))
		// From 3.9 on servers refuse DIGEST-MD5 unless they are told that they need not follow
		// FIPS 140.
		x.settings += "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\nfips-mode=false\n"
	}
	if s.saslRequired {
		x.settings += "sessionRequireClientSASLAuth=true\n"
	}
	if s.readOnly {
		x.properties = append(x.properties, "-Dreadonlymode.enabled=true")
		// Without local sessions such a server refuses every session.
		x.settings += "localSessionsEnabled=true\nlocalSessionsUpgradingEnabled=true\n"
	}
	return x, nil
}

// jaas is the file with the users of a server. Java reads it as UTF-8.
func jaas(users map[string]string) []byte {
	var b strings.Builder
	b.WriteString("Server {\n\torg.apache.zookeeper.server.auth.DigestLoginModule required")
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for _, name := range slices.Sorted(maps.Keys(users)) {
		fmt.Fprintf(&b, "\n\tuser_%s=\"%s\"", name, quote.Replace(users[name]))
	}
	b.WriteString(";\n};\n")
	return []byte(b.String())
}
