package curatorcertmagic_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log"
	"math/big"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/go-curator/curator/framework"
	curatorcertmagic "github.com/go-curator/curator/recipes/adapters/certmagic"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
)

// authority issues certificates in place of an ACME server.
type authority struct{}

func (authority) IssuerKey() string { return "example" }

func (authority) Issue(_ context.Context, request *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	fmt.Println("issued:", request.DNSNames)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	issuer := &x509.Certificate{Subject: pkix.Name{CommonName: "example authority"}}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: request.DNSNames,
		NotBefore: time.Now(), NotAfter: time.Now().Add(90 * 24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, request.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &certmagic.IssuedCertificate{Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// newClient is on the page of README.md.
func newClient(connectString string) (*framework.Client, error) {
	return framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3),
		framework.WithAuthorization("digest", []byte("web:secret")),
		framework.WithDefaultACL(framework.CreatorAllACL()...),
		framework.WithErrorPolicy(state.SessionErrorPolicy()))
}

// configure is on the page of README.md.
func configure(client *framework.Client, config certmagic.Config) (*certmagic.Config, *certmagic.Cache, error) {
	storage, err := curatorcertmagic.NewStorage(client, "/certmagic")
	if err != nil {
		return nil, nil, err
	}
	config.Storage = storage
	var magic *certmagic.Config
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return magic, nil },
		Logger:           config.Logger,
	})
	magic = certmagic.New(cache, config)
	return magic, cache, nil
}

// Two hosts manage the same certificate. The first one obtains it, the second one loads it.
func ExampleNewStorage() {
	ctx := context.Background()
	for range 2 {
		client, err := newClient(connectString)
		if err != nil {
			log.Fatal(err)
		}
		if err := client.Start(ctx); err != nil {
			log.Fatal(err)
		}
		defer client.Close(ctx)
		magic, cache, err := configure(client, certmagic.Config{
			Issuers: []certmagic.Issuer{authority{}}, Logger: zap.NewNop(), OCSP: certmagic.OCSPConfig{DisableStapling: true},
		})
		if err != nil {
			log.Fatal(err)
		}
		defer cache.Stop()
		if err := magic.ManageSync(ctx, []string{"example.com"}); err != nil {
			log.Fatal(err)
		}
		cert, err := magic.CacheManagedCertificate(ctx, "example.com")
		fmt.Println("has:", cert.Names, err)
	}
	// Output:
	// issued: [example.com]
	// has: [example.com] <nil>
	// has: [example.com] <nil>
}
