// Package timestamps lets Go's RFC 3161 code judge time stamps: sigstore's verifier and digitorus' parser.
//
// ANCHORLOG_TIMESTAMPS is a folder of what is to be judged: the stamped file `data`, and for each time stamp
// NAME.tsr, its root NAME.root.pem and, where the response lacks some, NAME.certs.pem. scripts/interop makes it.
package timestamps

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/digitorus/timestamp"
	"github.com/sigstore/timestamp-authority/v2/pkg/verification"
)

// A time stamp and what is known about it.
type subject struct {
	name          string
	response      []byte
	roots         []*x509.Certificate
	intermediates []*x509.Certificate
	// The signer's certificate, where it is known from elsewhere.
	signer *x509.Certificate
}

// options: what sigstore's verifier is told; the roots are for the test to choose.
func (s subject) options(roots []*x509.Certificate) verification.VerifyOpts {
	return verification.VerifyOpts{Roots: roots, Intermediates: s.intermediates, TSACertificate: s.signer}
}

func TestSigstoreVerifiesTimestamps(t *testing.T) {
	data, subjects := load(t)
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			stamp, err := verification.VerifyTimestampResponse(s.response, bytes.NewReader(data), s.options(s.roots))
			if err != nil {
				t.Fatal(err)
			}
			if age := time.Since(stamp.Time); age < -time.Minute || age > time.Hour {
				t.Errorf("it is of %s", stamp.Time)
			}
		})
	}
}

func TestSigstoreRefusesOtherDataRootsAndBytes(t *testing.T) {
	data, subjects := load(t)
	stranger := newRoot(t)
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			refused := func(what string, response, data []byte, roots []*x509.Certificate) {
				_, err := verification.VerifyTimestampResponse(response, bytes.NewReader(data), s.options(roots))
				if err == nil {
					t.Errorf("%s: accepted", what)
				}
			}
			refused("other data", s.response, append(bytes.Clone(data), '.'), s.roots)
			refused("other root", s.response, data, []*x509.Certificate{stranger})
			// The last byte belongs to the signature.
			damaged := bytes.Clone(s.response)
			damaged[len(damaged)-1] ^= 1
			refused("damaged", damaged, data, s.roots)
		})
	}
}

func TestDigitorusReadsWhatTheyAreOver(t *testing.T) {
	data, subjects := load(t)
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			stamp, err := timestamp.ParseResponse(s.response)
			if err != nil {
				t.Fatal(err)
			}
			hash := stamp.HashAlgorithm.New()
			hash.Write(data)
			if !bytes.Equal(hash.Sum(nil), stamp.HashedMessage) {
				t.Errorf("over %x", stamp.HashedMessage)
			}
			// Names end in the hash: sigstore-sha256.
			name := strings.ToLower(strings.ReplaceAll(stamp.HashAlgorithm.String(), "-", ""))
			if !strings.HasSuffix(s.name, "-"+name) {
				t.Errorf("over %s", stamp.HashAlgorithm)
			}
			if stamp.Nonce == nil || stamp.Nonce.BitLen() > 128 || stamp.Nonce.BitLen() < 64 {
				t.Errorf("nonce %v", stamp.Nonce)
			}
			if len(stamp.Certificates) == 0 || stamp.SerialNumber == nil || len(stamp.Policy) == 0 {
				t.Errorf("incomplete: %+v", stamp)
			}
		})
	}
}

func load(t *testing.T) ([]byte, []subject) {
	t.Helper()
	folder := os.Getenv("ANCHORLOG_TIMESTAMPS")
	if folder == "" {
		t.Skip("ANCHORLOG_TIMESTAMPS is not set")
	}
	responses, err := filepath.Glob(filepath.Join(folder, "*.tsr"))
	if err != nil || len(responses) == 0 {
		t.Fatalf("no time stamps in %s: %v", folder, err)
	}
	var subjects []subject
	for _, path := range responses {
		stem := strings.TrimSuffix(path, ".tsr")
		s := subject{name: filepath.Base(stem), response: read(t, path), roots: certificates(t, stem+".root.pem")}
		if _, err := os.Stat(stem + ".certs.pem"); err == nil {
			for _, one := range certificates(t, stem+".certs.pem") {
				if one.IsCA {
					s.intermediates = append(s.intermediates, one)
				} else {
					s.signer = one
				}
			}
		}
		subjects = append(subjects, s)
	}
	return read(t, filepath.Join(folder, "data")), subjects
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func certificates(t *testing.T, path string) []*x509.Certificate {
	t.Helper()
	var found []*x509.Certificate
	rest := read(t, path)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		found = append(found, one)
	}
	if len(found) == 0 {
		t.Fatalf("%s: no certificate", path)
	}
	return found
}

// newRoot: a sound root that has signed nothing.
func newRoot(t *testing.T) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "stranger"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	root, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return root
}
