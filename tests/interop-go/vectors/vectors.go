// Package vectors reads the file that our Rust side exports for this check.
//
// The form is written down in the README beside go.mod. This package knows nothing of Merkle trees or
// notes: it only turns the JSON into Go values, refusing members it doesn't know, so that a renamed
// member can't silently leave a check without its input.
package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/tlog"
)

// Schema is the only value of the member "schema" that Load accepts.
const Schema = "anchorlog.interop/1"

// File is one exported set of vectors.
type File struct {
	Schema string `json:"schema"`
	// Seed of the generator, printed by the tests so that a failing set can be made again.
	Seed int64 `json:"seed"`
	// Entries are the leaves; every tree in the file is a prefix of them.
	Entries     [][]byte      `json:"entries"`
	Roots       []Root        `json:"roots"`
	Inclusion   []Inclusion   `json:"inclusion"`
	Consistency []Consistency `json:"consistency"`
	Tiles       []Tiles       `json:"tiles"`
	Notes       []Note        `json:"notes"`
	Checkpoints []Checkpoint  `json:"checkpoints"`
	Cosigned    []Cosigned    `json:"cosigned"`
	Proofs      []Proof       `json:"proofs"`
	Refused     Refused       `json:"refused"`
}

// Root of the tree over the first Size entries.
type Root struct {
	Size int64     `json:"size"`
	Root tlog.Hash `json:"root"`
}

// Inclusion proof of the entry at Index in the tree of Size entries.
type Inclusion struct {
	Index  int64       `json:"index"`
	Size   int64       `json:"size"`
	Hashes []tlog.Hash `json:"hashes"`
}

// Consistency proof from the tree of From entries to the tree of To entries.
type Consistency struct {
	From   int64       `json:"from"`
	To     int64       `json:"to"`
	Hashes []tlog.Hash `json:"hashes"`
}

// Tiles are all tiles and all entry bundles that a log of Size entries serves.
type Tiles struct {
	Size  int64      `json:"size"`
	Files []TileFile `json:"files"`
}

// TileFile is one resource of the C2SP tlog-tiles layout.
type TileFile struct {
	Path  string `json:"path"`
	Bytes []byte `json:"bytes"`
}

// Note is a text and the signed note that our signer made of it.
type Note struct {
	Skey string `json:"skey"`
	Vkey string `json:"vkey"`
	Text string `json:"text"`
	Note string `json:"note"`
}

// Checkpoint is a signed checkpoint with the values it states.
type Checkpoint struct {
	Vkey   string    `json:"vkey"`
	Origin string    `json:"origin"`
	Size   int64     `json:"size"`
	Root   tlog.Hash `json:"root"`
	Note   string    `json:"note"`
}

// Cosigned is a checkpoint that a witness key cosigned (C2SP cosignature/v1).
type Cosigned struct {
	LogVkey     string `json:"log_vkey"`
	WitnessVkey string `json:"witness_vkey"`
	Time        int64  `json:"time"`
	Note        string `json:"note"`
}

// Proof is a C2SP tlog-proof text for the entry at Index.
type Proof struct {
	Vkey  string `json:"vkey"`
	Index int64  `json:"index"`
	Text  string `json:"text"`
}

// Refused holds damaged vectors. Our side refused each of them when it wrote the file; the other
// implementation has to refuse them too.
type Refused struct {
	Inclusion   []RefusedInclusion   `json:"inclusion"`
	Consistency []RefusedConsistency `json:"consistency"`
	Notes       []RefusedNote        `json:"notes"`
}

// RefusedInclusion is an inclusion claim that must not verify.
type RefusedInclusion struct {
	Why      string      `json:"why"`
	Index    int64       `json:"index"`
	Size     int64       `json:"size"`
	LeafHash tlog.Hash   `json:"leaf_hash"`
	Root     tlog.Hash   `json:"root"`
	Hashes   []tlog.Hash `json:"hashes"`
}

// RefusedConsistency is a consistency claim that must not verify.
type RefusedConsistency struct {
	Why      string      `json:"why"`
	From     int64       `json:"from"`
	To       int64       `json:"to"`
	FromRoot tlog.Hash   `json:"from_root"`
	ToRoot   tlog.Hash   `json:"to_root"`
	Hashes   []tlog.Hash `json:"hashes"`
}

// RefusedNote is a note that must not open under Vkey.
type RefusedNote struct {
	Why  string `json:"why"`
	Vkey string `json:"vkey"`
	Note string `json:"note"`
}

// Load reads and parses the file at path.
func Load(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var file File
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if file.Schema != Schema {
		return nil, fmt.Errorf("%s: schema %q, want %q", path, file.Schema, Schema)
	}
	return &file, nil
}
