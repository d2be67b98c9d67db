package matrix

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-curator/curator/tools/curatortest"
)

// TestCertificateReloaded gives a running server another certificate, in place of the file that it has read.
func TestCertificateReloaded(t *testing.T) {
	t.Parallel()
	server := curatortest.Real(t, curatortest.WithTLS(curatortest.TLS{}),
		curatortest.WithSettings(map[string]string{"client.certReload": "true"}))
	certificate, text := selfSigned(t)
	file := filepath.Join(filepath.Dir(server.Member(0).DataDir()), "server.pem")
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); !bytes.Equal(presented(t, server), certificate); <-time.After(100 * time.Millisecond) {
		if time.Since(begin) > 15*time.Second {
			t.Fatal("the server has not read its certificate again")
		}
	}
}

// presented returns the certificate that a server presents.
func presented(t *testing.T, server *curatortest.Ensemble) []byte {
	t.Helper()
	settings := &tls.Config{InsecureSkipVerify: true} // any certificate will do
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", server.TLSConnectString(), settings)
	if err != nil {
		t.Fatal(err, server.Member(0).Log())
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Raw
}

// selfSigned returns a certificate, and it with its key as PEM.
func selfSigned(t *testing.T) (certificate, text []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "new"}, NotAfter: time.Now().Add(time.Hour)}
	if certificate, err = x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key); err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	return certificate, append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})...)
}
