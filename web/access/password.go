package access

import (
	"crypto/sha256"
	"sync"

	"golang.org/x/crypto/bcrypt"
)

// nobodysHash is what the password of an unknown user is compared with, so that the time taken does not tell which users there are.
// It is the hash that Prometheus' exporter-toolkit uses for the same.
const nobodysHash = "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi"

// passwords compares passwords: one at a time, because each is made to be slow, and each pair of hash and password once.
type passwords struct {
	mu    sync.Mutex
	known map[[32]byte]bool
}

func (p *passwords) match(hash, password string) bool {
	userKnown := hash != ""
	if !userKnown {
		hash = nobodysHash
	}
	key := sha256.Sum256([]byte(hash + "\x00" + password))
	p.mu.Lock()
	defer p.mu.Unlock()
	same, seen := p.known[key]
	if !seen {
		same = bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
		if p.known == nil || len(p.known) > 1000 {
			p.known = map[[32]byte]bool{}
		}
		p.known[key] = same
	}
	return same && userKnown
}
