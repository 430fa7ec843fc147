package protocol

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"filippo.io/edwards25519"
)

// The authentication methods, by the servers' names.
const (
	PluginNative      = "mysql_native_password"
	PluginCachingSHA2 = "caching_sha2_password"
	pluginSHA256      = "sha256_password"
	pluginEd25519     = "client_ed25519"
	pluginClear       = "mysql_clear_password"
)

// What caching_sha2_password and sha256_password say within their dialogue.
const (
	sha2Key   = 2 // caching_sha2_password: send your public key
	sha2Fast  = 3 // the password was in the server's cache
	sha2Full  = 4 // it was not: send it
	sha256Key = 1 // sha256_password: send your public key
)

// Login answers a server's demands for proof.
type Login struct {
	Password string
	Private  bool // nobody else can read the connection: TLS or a Unix socket
	Plugin   string
	Scramble []byte // as sent, with a zero byte after it from some methods
}

// nonce is the scramble proper, of the length that the method has.
func (l *Login) nonce(length int) []byte { return l.Scramble[:min(len(l.Scramble), length)] }

// First answers the scramble of l.Plugin.
func (l *Login) First() ([]byte, error) {
	switch l.Plugin {
	case PluginNative:
		return nativeProof(l.nonce(20), l.Password), nil
	case PluginCachingSHA2:
		return sha2Proof(l.nonce(20), l.Password), nil
	case pluginSHA256:
		switch {
		case l.Password == "":
			return []byte{0}, nil
		case l.Private:
			return append([]byte(l.Password), 0), nil
		}
		return []byte{sha256Key}, nil
	case pluginEd25519:
		return ed25519Proof(l.nonce(32), l.Password)
	case pluginClear:
		if !l.Private {
			return nil, errors.New("the server requests the password in clear text, which Plimsoll only sends over TLS (option tls=required)")
		}
		return append([]byte(l.Password), 0), nil
	case "unix_socket", "auth_socket":
		return nil, nil // the server asks the operating system who we are
	}
	return nil, fmt.Errorf("the server requests the authentication method %q, which is not supported", l.Plugin)
}

// More answers further demands; an empty answer means: read on.
func (l *Login) More(data []byte) ([]byte, error) {
	if l.Plugin == PluginCachingSHA2 && len(data) == 1 {
		switch data[0] {
		case sha2Fast:
			return nil, nil
		case sha2Full:
			if l.Private {
				return append([]byte(l.Password), 0), nil
			}
			return []byte{sha2Key}, nil
		}
	}
	if (l.Plugin == PluginCachingSHA2 || l.Plugin == pluginSHA256) && !l.Private {
		return encryptedPassword(data, l.nonce(20), l.Password)
	}
	return nil, fmt.Errorf("the server's authentication method %q asks for data that Plimsoll does not know", l.Plugin)
}

// nativeProof is SHA1(password) XOR SHA1(scramble, SHA1(SHA1(password))).
func nativeProof(scramble []byte, password string) []byte {
	if password == "" {
		return nil
	}
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	mask := sha1.Sum(slices.Concat(scramble, twice[:]))
	return xor(once[:], mask[:])
}

// sha2Proof is SHA256(password) XOR SHA256(SHA256(SHA256(password)), scramble).
func sha2Proof(scramble []byte, password string) []byte {
	if password == "" {
		return nil
	}
	once := sha256.Sum256([]byte(password))
	twice := sha256.Sum256(once[:])
	mask := sha256.Sum256(append(twice[:], scramble...))
	return xor(once[:], mask[:])
}

// encryptedPassword is the password, masked with the scramble, under the server's RSA key.
func encryptedPassword(key, scramble []byte, password string) ([]byte, error) {
	block, _ := pem.Decode(key)
	if block == nil || len(scramble) == 0 {
		return nil, errors.New("the server sent no public key to encrypt the password with")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the server's public key: %w", err)
	}
	public, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return nil, errors.New("the server's public key is not an RSA key")
	}
	masked := append([]byte(password), 0)
	for i := range masked {
		masked[i] ^= scramble[i%len(scramble)]
	}
	return rsa.EncryptOAEP(sha1.New(), rand.Reader, public, masked, nil)
}

// ed25519Proof signs the scramble as MariaDB's ed25519 does it: RFC 8032, but with the password in the place of the
// 32-byte seed.
func ed25519Proof(scramble []byte, password string) ([]byte, error) {
	if len(scramble) != 32 {
		return nil, fmt.Errorf("an ed25519 scramble of %d bytes", len(scramble))
	}
	expanded := sha512.Sum512([]byte(password))
	secret, err := new(edwards25519.Scalar).SetBytesWithClamping(expanded[:32])
	if err != nil {
		return nil, err
	}
	public := new(edwards25519.Point).ScalarBaseMult(secret).Bytes()

	nonce, err := new(edwards25519.Scalar).SetUniformBytes(sha512Of(expanded[32:], scramble))
	if err != nil {
		return nil, err
	}
	commitment := new(edwards25519.Point).ScalarBaseMult(nonce).Bytes()
	challenge, err := new(edwards25519.Scalar).SetUniformBytes(sha512Of(commitment, public, scramble))
	if err != nil {
		return nil, err
	}
	answer := new(edwards25519.Scalar).MultiplyAdd(challenge, secret, nonce)
	return append(commitment, answer.Bytes()...), nil
}

func sha512Of(parts ...[]byte) []byte {
	h := sha512.New()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

func xor(a, b []byte) []byte {
	for i := range a {
		a[i] ^= b[i]
	}
	return a
}
