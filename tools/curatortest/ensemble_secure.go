package curatortest

import (
	"crypto/tls"
	"errors"
	"strings"
	"time"
)

// TLSConnectString names every server's port for TLS. The servers must have [WithTLS]: the
// test fails otherwise.
func (e *Ensemble) TLSConnectString() string {
	e.tb.Helper()
	var addresses []string
	for _, m := range e.members {
		addresses = append(addresses, m.TLSConnectString())
	}
	return strings.Join(addresses, ",")
}

// TLSConnectString names only this server's port for TLS. The server must have [WithTLS]: the
// test fails otherwise. The faults of the plain port also affect this port.
func (m *Member) TLSConnectString() string {
	m.ensemble.tb.Helper()
	if m.secure == nil {
		m.ensemble.tb.Fatalf("TLS with ZooKeeper: the servers were started without WithTLS")
		return ""
	}
	return m.secure.Address()
}

// TLSConfig returns the settings of a client that trusts the servers and presents no
// certificate. The caller may change them. The servers must have [WithTLS]: the test fails
// otherwise, and the settings trust no server.
func (e *Ensemble) TLSConfig() *tls.Config {
	e.tb.Helper()
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.authority == nil {
		e.tb.Fatalf("TLS with ZooKeeper: the servers were started without WithTLS")
		return settings
	}
	settings.RootCAs = e.authority.pool()
	return settings
}

// TLSConfigWith is TLSConfig for a client that presents a certificate. Like other clients, and
// unlike Go's default, it presents the certificate even if the server has said that it would
// not accept it.
func (e *Ensemble) TLSConfigWith(c Certificate) *tls.Config {
	e.tb.Helper()
	settings := e.TLSConfig()
	if e.authority == nil {
		return settings
	}
	certificate, err := e.authority.issue(c)
	if err != nil {
		e.tb.Fatalf("TLS with ZooKeeper: a client's certificate: %v", err)
		return settings
	}
	settings.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
	return settings
}

// AwaitReadOnly waits until the server serves reads only, because it has no quorum, or fails
// the test after a minute. The servers must have [WithReadOnlyMode]: the test fails otherwise.
// Before that ZooKeeper waits for another quorum, for 2 s or a tick if that is longer.
func (m *Member) AwaitReadOnly() {
	m.ensemble.tb.Helper()
	if !m.setup.extras.readOnly {
		m.ensemble.tb.Fatalf("reads without a quorum: the servers were started without WithReadOnlyMode")
		return
	}
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	var last error
	for end := time.Now().Add(startTimeout); time.Now().Before(end); <-ticker.C {
		if _, last = serverMode(m.setup.address()); errors.Is(last, errReadOnly) {
			return
		}
	}
	m.ensemble.tb.Fatalf("ZooKeeper is not read-only after %v: %v", startTimeout, last)
}
