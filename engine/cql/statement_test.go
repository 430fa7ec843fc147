package cql

import (
	"bytes"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// A key of several columns is hashed with the length before each and a zero behind it, in the key's order, not the statement's:
// org.apache.cassandra.db.marshal.CompositeType.
func TestKeysAreRoutedAsNodesHashThem(t *testing.T) {
	p := &statement{query: &gocql.Query{}, key: []int{2, 0}, args: []argument{
		{of: kind(gocql.TypeInt)}, {of: kind(gocql.TypeText)}, {of: kind(gocql.TypeText)},
	}}
	for range 2 { // its memory is used again
		if err := p.bind([]engine.Value{engine.Int(258), engine.Chars([]byte("no part")), engine.Chars([]byte("ab"))}); err != nil {
			t.Fatal(err)
		}
		if want := []byte("\x00\x02ab\x00" + "\x00\x04\x00\x00\x01\x02\x00"); !bytes.Equal(p.routing, want) {
			t.Errorf("routed by %q, want %q", p.routing, want)
		}
	}
	if err := p.bind(nil); err == nil {
		t.Error("a statement without its values was bound")
	}
}

// kind is a type of column that the driver has no part in.
type kind gocql.Type

func (k kind) Type() gocql.Type          { return gocql.Type(k) }
func (kind) Zero() any                   { return nil }
func (kind) Marshal(any) ([]byte, error) { panic("it should not be asked") }
func (kind) Unmarshal([]byte, any) error { panic("it should not be asked") }
