package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// mixedPrefix begins the names of the results of mixed attacks.
const mixedPrefix = "mixed-"

// errTroubles says that a mixed attack has found something.
var errTroubles = errors.New("there were troubles")

// mixed attacks each product, and keeps what it finds.
func (r rack) mixed(ctx context.Context, m mixed, products []string, kills, first int, within time.Duration, asJSON bool) (err error) {
	m.seed = drawSeed(m.seed)
	if m.program, err = filepath.Abs(r.program); err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	if err := os.MkdirAll(r.results, 0o750); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	troubles := false
	for _, product := range products {
		m.product, m.lab = product, "mixed-"+product
		if m.work, err = os.MkdirTemp("", "mixed-"+product+"-"); err != nil {
			return fmt.Errorf("make a folder for the tries: %w", err)
		}
		m.home, m.files = filepath.Join(m.work, "home"), m.work
		for name, text := range mixedBooks {
			if err := os.WriteFile(filepath.Join(m.files, name), []byte(text), 0o600); err != nil {
				return fmt.Errorf("keep runbooks: %w", err)
			}
		}
		fmt.Fprintf(os.Stderr, "== mixed attack on %s, seed %d; tries in %s\n", product, m.seed, m.work)
		res, err := m.attack(ctx, kills, first, within, func(text string) { fmt.Fprintln(os.Stderr, text) })
		if len(res.Tries) == 0 {
			err = errors.Join(err, os.RemoveAll(m.work))
		}
		troubles = troubles || len(res.Tries) > 0
		data, broken := json.MarshalIndent(res, "", "  ")
		if err = errors.Join(err, broken); err != nil {
			return err
		}
		if asJSON {
			fmt.Println(string(data))
			continue
		}
		if err := os.WriteFile(filepath.Join(r.results, fmt.Sprintf("%s%s-%d.json", mixedPrefix, product, m.seed)), append(data, '\n'), 0o600); err != nil {
			return fmt.Errorf("keep the attack on %s: %w", product, err)
		}
		if err := r.page(); err != nil {
			return err
		}
	}
	if troubles {
		return errTroubles
	}
	return nil
}

// mixedBooks are runbooks of an attack's own.
var mixedBooks = map[string]string{
	"start-node.yaml": `runbook: attack/start
inputs: {node: {type: node, about: The server that was killed.}}
lock: none
steps: [{id: start, uses: server.start, with: {node: "${{ inputs.node }}"}}]
`,
	"ledger.yaml": `runbook: attack/ledger
about: The application that writes all the time, which may not write where it is read only.
steps:
  - id: ledger
    uses: sql.execute
    with: {statements: ["CREATE DATABASE attack", "CREATE TABLE attack.ledger (id BIGINT PRIMARY KEY)",
      "CREATE USER attack@'%' IDENTIFIED BY 'attack'", "GRANT SELECT, INSERT ON attack.* TO attack@'%'"],
      check: "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'attack'", want: "1"}
`,
}

// drawSeed is the seed that was asked for, or any.
func drawSeed(seed uint64) uint64 {
	if seed == 0 {
		seed = rand.Uint64N(1e9) //nolint:gosec // it is printed
	}
	return seed
}
