package journal

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
)

// Seal is a signature over the digest of evidence: whoever has the key vouches for it.
type Seal struct {
	Key       string `json:"key"`       // the public key, in hexadecimal
	Signature string `json:"signature"` // Ed25519, in hexadecimal
}

// sealed is what is signed. What comes before the digest keeps a signature from meaning anything else.
func sealed(digest string) []byte { return []byte("plimsoll evidence " + digest) }

// SealWith seals the evidence with a private key.
func (e *Evidence) SealWith(key ed25519.PrivateKey) {
	public, _ := key.Public().(ed25519.PublicKey)
	e.Seal = &Seal{Key: hex.EncodeToString(public), Signature: hex.EncodeToString(ed25519.Sign(key, sealed(e.Digest)))}
}

// Holds tells whether the seal is one of its own key over this digest.
func (s Seal) Holds(digest string) bool {
	key, err := hex.DecodeString(s.Key)
	signature, err2 := hex.DecodeString(s.Signature)
	if err != nil || err2 != nil || len(key) != ed25519.PublicKeySize {
		return false
	}
	again := Seal{Key: hex.EncodeToString(key), Signature: hex.EncodeToString(signature)} // capitals decode too
	return s == again && ed25519.Verify(key, sealed(digest), signature)
}

// PrivateKey reads an Ed25519 key in PEM, as openssl genpkey writes it.
func PrivateKey(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("it is not a key in PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the private key: %w", err)
	}
	if private, ok := key.(ed25519.PrivateKey); ok {
		return private, nil
	}
	return nil, errors.New("it is not an Ed25519 key")
}

// PublicKey reads the public half, as openssl pkey -pubout writes it, in the form that a Seal names it.
func PublicKey(text []byte) (string, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return "", errors.New("it is not a key in PEM")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("read the public key: %w", err)
	}
	if public, ok := key.(ed25519.PublicKey); ok {
		return hex.EncodeToString(public), nil
	}
	return "", errors.New("it is not an Ed25519 key")
}
