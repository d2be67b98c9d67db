package settings

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// errPublic is returned for a file with secrets that other users may read or write.
var errPublic = errors.New("users other than its owner may read or write it: run chmod 600")

// ReadSecret reads a file with secrets. It is an error if users other than the file's owner may read
// or write it. what is the name of the file's setting, for errors.
func ReadSecret(what, path string) ([]byte, error) {
	content, public, err := readFile(what, path)
	if err == nil && public {
		err = fmt.Errorf("%s %s: %w", what, path, errPublic)
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// readFile reads a file. public reports whether users other than its owner may read or write it.
func readFile(what, path string) (content []byte, public bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, false, cannotRead(what, path, err)
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, false, cannotRead(what, path, err)
	}
	if info.IsDir() {
		return nil, false, fmt.Errorf("cannot read %s %s: it is a directory", what, path)
	}
	// The permissions of a pipe, such as that of <(command), do not matter: it is no lasting copy.
	public = runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0
	content, err = io.ReadAll(file)
	if err != nil {
		return nil, false, cannotRead(what, path, err)
	}
	return content, public, nil
}

func cannotRead(what, path string, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return fmt.Errorf("cannot read %s %s: %w", what, path, err)
}

// TLSConfig reads the files of the TLS flags. It returns nil if TLS is not used.
func (s *Settings) TLSConfig() (*tls.Config, error) {
	if !s.TLS {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.serverName}
	if s.ca != "" {
		content, _, err := readFile("--tls-ca", s.ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(content) {
			return nil, fmt.Errorf("--tls-ca %s has no certificate in PEM form", s.ca)
		}
	}
	switch {
	case s.cert == "" && s.key == "":
		return config, nil
	case s.cert == "" || s.key == "":
		return nil, errors.New("--tls-cert and --tls-key must be given together")
	}
	pair, err := KeyPair("--tls-cert", s.cert, "--tls-key", s.key)
	if err != nil {
		return nil, err
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// KeyPair reads a certificate and its private key from files. certFlag and keyFlag are the names of
// their flags, for errors.
func KeyPair(certFlag, certFile, keyFlag, keyFile string) (tls.Certificate, error) {
	cert, _, err := readFile(certFlag, certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := ReadSecret(keyFlag, keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s %s and %s %s: %w", certFlag, certFile, keyFlag, keyFile, err)
	}
	return pair, nil
}
