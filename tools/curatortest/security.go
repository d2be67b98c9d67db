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

// security is how real servers authenticate clients and encrypt their connections.
type security struct {
	tls          *TLS // nil without TLS
	authority    *authority
	ownConfig    *tls.Config       // of this package's own connections to the servers
	users        map[string]string // passwords by names; nil without SASL
	saslRequired bool
	readOnly     bool
}

// clientAuths are ZooKeeper's names of the values.
var clientAuths = map[tls.ClientAuthType]string{
	tls.NoClientCert: "none", tls.VerifyClientCertIfGiven: "want", tls.RequireAndVerifyClientCert: "need",
}

// mistake returns an option that is invalid for n servers, and why, or "".
func (s security) mistake(n int) (option, why string) {
	switch {
	case s.tls != nil && clientAuths[s.tls.ClientAuth] == "":
		return "WithTLS", fmt.Sprintf("ZooKeeper does not support ClientAuth %v", s.tls.ClientAuth)
	case s.saslRequired && s.users == nil:
		return "WithSASLRequired", "there are no users: see WithSASL"
	case s.readOnly && n == 1:
		return "WithReadOnlyMode", "a standalone server has no quorum that it could lose"
	}
	if s.users != nil {
		return "WithSASL", usersMistake(s.users)
	}
	return "", ""
}

// usersMistake returns why these users cannot be in a JAAS file, or "".
func usersMistake(users map[string]string) string {
	for name, password := range users {
		other := func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
		}
		switch {
		case name == "" || strings.ContainsFunc(name, other) || !utf8.ValidString(name):
			return fmt.Sprintf("the user %q: a name may have only letters, digits, _, - and .", name)
		case password == "" || strings.ContainsFunc(password, unicode.IsControl) || !utf8.ValidString(password):
			return fmt.Sprintf("the password of %s is empty, or has control characters", name)
		case strings.Contains(password, "${"):
			return fmt.Sprintf("the password of %s contains ${, which Java replaces", name)
		}
	}
	return ""
}

// embeddedMistake returns an option that is invalid for the embedded server, or "".
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

// prepare creates the authority and the certificate that all servers of an ensemble share.
func (s *security) prepare() error {
	if s.tls == nil {
		return nil
	}
	var err error
	if s.authority, err = newAuthority(); err != nil {
		return err
	}
	own, err := s.authority.issue(Certificate{})
	// The test may have chosen certificates for the servers that must not be trusted.
	s.ownConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{own}, InsecureSkipVerify: true} //nolint:gosec // see above
	return err
}

// extras are settings and files that options add to a server.
type extras struct {
	settings   string // lines of zoo.cfg
	properties []string
	files      map[string][]byte // by their names in the server's directory
	securePort int               // the port for TLS; 0 without TLS
	ownConfig  *tls.Config       // see security
	readOnly   bool              // whether the server serves reads without a quorum
}

// write writes the files into the directory dir.
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

// extras returns the extras of a server whose files are in dir. With TLS it listens on securePort.
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
		// Since 3.9 servers refuse DIGEST-MD5 unless the FIPS mode is off.
		x.settings += "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\nfips-mode=false\n"
	}
	if s.saslRequired {
		x.settings += "sessionRequireClientSASLAuth=true\n"
	}
	if s.readOnly {
		x.properties = append(x.properties, "-Dreadonlymode.enabled=true")
		// Without local sessions a server without a quorum refuses every session.
		x.settings += "localSessionsEnabled=true\nlocalSessionsUpgradingEnabled=true\n"
	}
	return x, nil
}

// jaas returns the JAAS file with the users of a server. Java reads it as UTF-8.
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
