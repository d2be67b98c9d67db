//go:build unix

package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// pemFile writes blocks of one type.
func pemFile(t *testing.T, name, block string, blocks ...[]byte) (path string) {
	t.Helper()
	var content []byte
	for _, bytes := range blocks {
		content = append(content, pem.EncodeToMemory(&pem.Block{Type: block, Bytes: bytes})...)
	}
	return writeFile(t, name, string(content), 0o600)
}

// tlsFlags returns the flags for a server's authority, and for a client's certificate.
func tlsFlags(t *testing.T, server *curatortest.Ensemble) (authority, certificate []string) {
	t.Helper()
	settings := server.TLSConfigWith(curatortest.Certificate{})
	conn, err := tls.Dial("tcp", server.TLSConnectString(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	chain := conn.ConnectionState().VerifiedChains[0]
	pair, err := settings.GetClientCertificate(&tls.CertificateRequestInfo{})
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--tls-ca", pemFile(t, "ca.pem", "CERTIFICATE", chain[len(chain)-1].Raw)},
		[]string{
			"--tls-cert", pemFile(t, "cert.pem", "CERTIFICATE", pair.Certificate...),
			"--tls-key", pemFile(t, "key.pem", "PRIVATE KEY", key),
		}
}

// TestSecured connects to a server with TLS, SASL and ACLs, by flags, by the environment and by a
// section of the configuration file.
func TestSecured(t *testing.T) {
	t.Parallel()
	server := curatortest.Real(t, curatortest.WithTickTime(tick), curatortest.WithContainerCheckInterval(time.Hour),
		curatortest.WithSASL(map[string]string{"ops": "swordfish"}),
		curatortest.WithTLS(curatortest.TLS{ClientAuth: tls.RequireAndVerifyClientCert}))
	plain, secure := server.ConnectString(), server.TLSConnectString()
	authority, certificate := tlsFlags(t, server)
	auth := writeFile(t, "auth", "digest:ops:swordfish\n", 0o600)
	lock := func(connect, path string, flags []string, env ...string) *process {
		args := append([]string{"lock", "--connect", connect}, flags...)
		cmd := exec.Command(tool, append(args, path, "--", "echo", "in")...)
		cmd.Env = env
		return startCmd(t, cmd)
	}
	both := slices.Concat(authority, certificate)
	lock(secure, "/tls", both).wantExit(0)
	start(t, append([]string{"health", "--connect", secure}, both...)...).wantExit(0)
	start(t, append([]string{"ls", "--connect", secure}, both...)...).wantExit(0)
	var refused []func()
	for want, flags := range map[string][]string{
		"not zk9": append(slices.Clone(both), "--tls-server-name", "zk9"), "tls: bad certificate": authority,
		"certificate signed by unknown authority": certificate, "its port is for TLS": nil,
	} {
		p := lock(secure, "/tls", append(flags, "--timeout", "8s"))
		refused = append(refused, func() { p.wantExit(69, want) })
	}
	for _, check := range refused {
		check()
	}

	// Other identities may not use the nodes that one identity has created.
	digest, sasl := []string{"--auth-file", auth, "--acl", "creator"}, []string{"--auth-file", auth, "--sasl", "--acl", "sasl:ops:cdrwa"}
	lock(plain, "/digest", digest).wantExit(0)
	lock(plain, "/sasl", sasl).wantExit(0)
	for _, path := range []string{"/digest", "/sasl"} {
		lock(plain, path, nil).wantExit(77, "not permitted")
		lock(plain, path, []string{"--auth-file", writeFile(t, "other", "digest:eve:x", 0o600)}).wantExit(77, "not permitted")
	}
	lock(plain, "/digest", nil, "CURATOR_AUTH=digest:ops:swordfish").wantExit(0)
	lock(plain, "/sasl", []string{"--sasl"}, "CURATOR_AUTH=digest:ops:trout").wantExit(77, "credentials were rejected")
	client := server.Client(t, silent, framework.WithAuthorization("digest", []byte("ops:swordfish")))
	acl, err := client.GetACL().ForPath(t.Context(), "/digest")
	if err != nil || len(acl) != 1 || !strings.HasPrefix(acl[0].String(), "digest:ops:") {
		t.Errorf("ACL %v, %v", acl, err)
	}

	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "curator"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("[test]\nconnect = %s\ntls-ca = %s\ntls-cert = %s\ntls-key = %s\nsasl = true\nauth = digest:ops:swordfish\nnamespace = sasl\n",
		secure, authority[1], certificate[1], certificate[3])
	if err := os.WriteFile(filepath.Join(dir, "curator", "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, "--ensemble", "test", "lock", "/below", "--", "true")
	cmd.Env = []string{"XDG_CONFIG_HOME=" + dir}
	startCmd(t, cmd).wantExit(0)
	saslClient := server.Client(t, silent)
	if stat, err := saslClient.CheckExists().ForPath(t.Context(), "/sasl/below"); err != nil || !stat {
		t.Errorf("the namespace was not used: %v, %v", stat, err)
	}
}
