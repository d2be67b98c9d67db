package curatortest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"time"
)

// Certificate describes a certificate of a test. The zero value is the certificate of a server
// on this machine: valid for localhost, 127.0.0.1 and ::1, for a day, signed by the authority
// that the servers and the clients of the test trust.
type Certificate struct {
	// Subject is the distinguished name, CN=localhost by default. A client's name is its id in
	// ACLs of the scheme x509, as Subject.String writes it.
	Subject pkix.Name

	// Hosts are the names and IP addresses of a server that presents the certificate. The
	// default is localhost, 127.0.0.1 and ::1.
	Hosts []string

	// NotAfter is when the certificate expires, in a day by default. It can be in the past.
	NotAfter time.Time

	// UnknownAuthority means that an untrusted authority signs the certificate.
	UnknownAuthority bool
}

// authority signs certificates. It is safe for concurrent use.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// day is the default validity of a certificate, which is longer than any test.
const day = 24 * time.Hour

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := newTemplate(pkix.Name{CommonName: "curatortest"}, time.Now().Add(day))
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &authority{certificate, key}, err
}

// newTemplate returns a certificate with the fields that all certificates have.
func newTemplate(subject pkix.Name, notAfter time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	// An expired certificate was valid before, too.
	notBefore := time.Now().Add(-day)
	if !notBefore.Before(notAfter) {
		notBefore = notAfter.Add(-day)
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject, NotBefore: notBefore, NotAfter: notAfter, BasicConstraintsValid: true,
	}, nil
}

// issue creates a certificate with its private key.
func (a *authority) issue(c Certificate) (tls.Certificate, error) {
	if c.UnknownAuthority {
		unknown, err := newAuthority()
		if err != nil {
			return tls.Certificate{}, err
		}
		a, c.UnknownAuthority = unknown, false
	}
	if c.Subject.String() == "" {
		c.Subject.CommonName = "localhost"
	}
	if c.Hosts == nil {
		c.Hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(day)
	}
	template, err := newTemplate(c.Subject, c.NotAfter)
	if err != nil {
		return tls.Certificate{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, host := range c.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}

// pool returns the authority for the RootCAs of a client.
func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// trustPEM returns the authority in the form of a server's trust store.
func (a *authority) trustPEM() []byte { return certificatePEM(a.certificate.Raw) }

// keyStorePEM returns a certificate with its private key in the form of a server's key store.
func keyStorePEM(c tls.Certificate) ([]byte, error) {
	if len(c.Certificate) == 0 {
		return nil, errors.New("no certificate")
	}
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), certificatePEM(c.Certificate[0])...), nil
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
