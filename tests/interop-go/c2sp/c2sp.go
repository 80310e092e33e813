// Package c2sp holds what the C2SP formats add to golang.org/x/mod/sumdb: the paths of tlog-tiles, which
// have no component for the tile height, entry bundles, and the body of a checkpoint.
//
// All hashing and all signature checks are x/mod's own. This is test code: it reads from a log and judges
// it, and shares nothing with the Rust side but the public specifications.
package c2sp

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const (
	// TileHeight of tlog-tiles: a full tile has 2^8 hashes.
	TileHeight = 8
	// TileWidth is the number of hashes of a full tile, and of entries in a full bundle.
	TileWidth = 1 << TileHeight
)

// TilePath is the path of a hash tile below the log's prefix.
func TilePath(tile tlog.Tile) string {
	return fmt.Sprintf("tile/%d/%s", tile.L, number(tile.N, tile.W))
}

// BundlePath is the path of an entry bundle below the log's prefix.
func BundlePath(n int64, width int) string {
	return "tile/entries/" + number(n, width)
}

// number writes a tile's index in groups of three digits, all but the last marked with an x, and the
// width of a partial tile behind it.
func number(n int64, width int) string {
	path := fmt.Sprintf("%03d", n%1000)
	for n /= 1000; n > 0; n /= 1000 {
		path = fmt.Sprintf("x%03d/%s", n%1000, path)
	}
	if width != TileWidth {
		path += ".p/" + strconv.Itoa(width)
	}
	return path
}

// ParseBundle takes an entry bundle apart. It has to hold exactly width entries and not a byte more.
func ParseBundle(data []byte, width int) ([][]byte, error) {
	var entries [][]byte
	for len(data) > 0 {
		if len(data) < 2 {
			return nil, errors.New("entry bundle ends within a length")
		}
		size := int(binary.BigEndian.Uint16(data))
		data = data[2:]
		if len(data) < size {
			return nil, errors.New("entry bundle ends within an entry")
		}
		entries = append(entries, data[:size])
		data = data[size:]
	}
	if len(entries) != width {
		return nil, fmt.Errorf("%d entries in a bundle of width %d", len(entries), width)
	}
	return entries, nil
}

// Checkpoint is the verified body of a checkpoint.
type Checkpoint struct {
	tlog.Tree
	Origin string
}

// OpenCheckpoint verifies the log's signature and reads the body (C2SP tlog-checkpoint). The name of the
// key has to be the origin, and extension lines are refused: the logs under test write none.
func OpenCheckpoint(signed []byte, log note.Verifier) (Checkpoint, error) {
	opened, err := note.Open(signed, note.VerifierList(log))
	if err != nil {
		return Checkpoint{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[3] != "" {
		return Checkpoint{}, fmt.Errorf("checkpoint of %d lines, want three", len(lines)-1)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Checkpoint{}, fmt.Errorf("tree size %q", lines[1])
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != tlog.HashSize {
		return Checkpoint{}, fmt.Errorf("root hash %q", lines[2])
	}
	if lines[0] != log.Name() {
		return Checkpoint{}, fmt.Errorf("origin %q under the key of %q", lines[0], log.Name())
	}
	return Checkpoint{tlog.Tree{N: size, Hash: tlog.Hash(root)}, lines[0]}, nil
}
