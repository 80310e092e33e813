// Package c2sptest writes small logs with x/mod alone, for the tests of the programs that read logs.
package c2sptest

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"anchorlog.test/interop/c2sp"
)

// Log is a log in a directory, as a static host would serve it.
type Log struct {
	Dir    string
	Vkey   string
	signer note.Signer
}

// New makes a log without entries or checkpoint.
func New(t *testing.T) *Log {
	t.Helper()
	skey, vkey, err := note.GenerateKey(rand.Reader, "log.example")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	return &Log{t.TempDir(), vkey, signer}
}

// Publish writes bundles, tiles and checkpoint for a tree of size entries, the i-th being Entry(i).
func (l *Log) Publish(t *testing.T, size int64) {
	t.Helper()
	var stored reader
	bundle := map[int64][]byte{}
	for i := range size {
		more, err := tlog.StoredHashes(i, Entry(i), stored)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
		n := i / c2sp.TileWidth
		bundle[n] = binary.BigEndian.AppendUint16(bundle[n], uint16(len(Entry(i))))
		bundle[n] = append(bundle[n], Entry(i)...)
	}
	for _, tile := range tlog.NewTiles(c2sp.TileHeight, 0, size) {
		data, err := tlog.ReadTileData(tile, stored)
		if err != nil {
			t.Fatal(err)
		}
		l.Write(t, c2sp.TilePath(tile), data)
		if tile.L == 0 {
			l.Write(t, c2sp.BundlePath(tile.N, tile.W), bundle[tile.N])
		}
	}
	root, err := tlog.TreeHash(size, stored)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("log.example\n%d\n%v\n", size, root)}, l.signer)
	if err != nil {
		t.Fatal(err)
	}
	l.Write(t, "checkpoint", signed)
}

// Entry is the content of the i-th entry.
func Entry(i int64) []byte { return fmt.Appendf(nil, "entry %d", i) }

// Write puts a file where the log serves path from.
func (l *Log) Write(t *testing.T, path string, data []byte) {
	t.Helper()
	file := filepath.Join(l.Dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Flip changes one bit in the middle of the file behind path.
func (l *Log) Flip(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(l.Dir, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	l.Write(t, path, data)
}

type reader []tlog.Hash

func (r reader) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		out[i] = r[index]
	}
	return out, nil
}
