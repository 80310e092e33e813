// Command follow reads a whole log over tlog-tiles and judges it with Go's own code.
//
//	go run ./follow [-since FILE] [-save FILE] URL|DIR VKEY
//
// It fetches the checkpoint and verifies its signature, then every entry and every tile of that size:
// each leaf hash must be the hash of its entry, each tile must lead to the signed root (x/mod checks that
// while reading), and the root rebuilt from the entries alone must be the signed one. With -since the
// checkpoint saved by an earlier run must be consistent with the one just fetched.
//
// Exit status: 0 the log holds, 1 it doesn't, 2 it could not be judged.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"anchorlog.test/interop/c2sp"
)

// verdict is an error that speaks against the log, in contrast to one that kept us from looking.
type verdict struct{ error }

func (v verdict) Unwrap() error { return v.error }

func main() {
	since := flag.String("since", "", "checkpoint of an earlier run, to check consistency with")
	save := flag.String("save", "", "where to leave the checkpoint that was fetched")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: follow [-since FILE] [-save FILE] URL|DIR VKEY")
		os.Exit(2)
	}
	err := follow(context.Background(), flag.Arg(0), flag.Arg(1), *since, *save)
	var against verdict
	switch {
	case errors.As(err, &against):
		fmt.Fprintln(os.Stderr, "follow: the log does not hold:", err)
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "follow:", err)
		os.Exit(2)
	}
}

func follow(ctx context.Context, prefix, vkey, since, save string) error {
	log, err := note.NewVerifier(vkey)
	if err != nil {
		return fmt.Errorf("vkey: %w", err)
	}
	client := c2sp.NewClient(prefix)
	signed, err := client.Get(ctx, "checkpoint")
	if err != nil {
		return err
	}
	checkpoint, err := c2sp.OpenCheckpoint(signed, log)
	if err != nil {
		return verdict{fmt.Errorf("checkpoint: %w", err)}
	}

	tiles := &tiles{ctx: ctx, client: client}
	stored := tlog.TileHashReader(checkpoint.Tree, tiles)
	rebuilt, err := rebuild(ctx, client, checkpoint.N, stored)
	if err != nil {
		return err
	}
	root, err := tlog.TreeHash(checkpoint.N, rebuilt)
	if err != nil {
		return err
	}
	if root != checkpoint.Hash {
		return verdict{fmt.Errorf("root rebuilt from the entries %v, signed %v", root, checkpoint.Hash)}
	}
	read, err := everyTile(ctx, client, checkpoint.N, rebuilt)
	if err != nil {
		return err
	}
	if since != "" {
		if err := consistent(since, log, checkpoint, stored); err != nil {
			return err
		}
	}
	if save != "" {
		if err := os.WriteFile(save, signed, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("follow: %s holds: %d entries, %d tiles, root %v\n", checkpoint.Origin, checkpoint.N, read, root)
	return nil
}

// rebuild reads every bundle, compares each entry's hash with the authenticated level-0 tile, and gives
// all hashes of the tree as computed from the entries.
func rebuild(ctx context.Context, client *c2sp.Client, size int64, stored tlog.HashReader) (hashes, error) {
	var rebuilt hashes
	for n := int64(0); n*c2sp.TileWidth < size; n++ {
		width := int(min(size-n*c2sp.TileWidth, c2sp.TileWidth))
		path := c2sp.BundlePath(n, width)
		data, err := client.Get(ctx, path)
		if err != nil {
			return nil, unserved(err)
		}
		entries, err := c2sp.ParseBundle(data, width)
		if err != nil {
			return nil, verdict{fmt.Errorf("%s: %w", path, err)}
		}
		indexes := make([]int64, width)
		for i := range indexes {
			indexes[i] = tlog.StoredHashIndex(0, n*c2sp.TileWidth+int64(i))
		}
		leaves, err := stored.ReadHashes(indexes)
		if err != nil {
			return nil, misread(fmt.Errorf("leaf hashes of %s: %w", path, err))
		}
		for i, entry := range entries {
			index := n*c2sp.TileWidth + int64(i)
			if leaves[i] != tlog.RecordHash(entry) {
				return nil, verdict{fmt.Errorf("entry %d: the tile says %v, the entry hashes to %v",
					index, leaves[i], tlog.RecordHash(entry))}
			}
			more, err := tlog.StoredHashes(index, entry, rebuilt)
			if err != nil {
				return nil, err
			}
			rebuilt = append(rebuilt, more...)
		}
	}
	return rebuilt, nil
}

// everyTile reads all tiles of the size, of every level, and compares them with the rebuilt tree.
func everyTile(ctx context.Context, client *c2sp.Client, size int64, rebuilt hashes) (int, error) {
	all := tlog.NewTiles(c2sp.TileHeight, 0, size)
	for _, tile := range all {
		data, err := client.Get(ctx, c2sp.TilePath(tile))
		if err != nil {
			return 0, unserved(err)
		}
		want, err := tlog.ReadTileData(tile, rebuilt)
		if err != nil {
			return 0, err
		}
		if string(data) != string(want) {
			return 0, verdict{fmt.Errorf("%s is not the tile of the entries", c2sp.TilePath(tile))}
		}
	}
	return len(all), nil
}

// consistent checks that the tree of an earlier checkpoint is a prefix of this one.
func consistent(file string, log note.Verifier, now c2sp.Checkpoint, stored tlog.HashReader) error {
	signed, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	then, err := c2sp.OpenCheckpoint(signed, log)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	switch {
	case then.N > now.N:
		return verdict{fmt.Errorf("the log shrank from %d to %d entries", then.N, now.N)}
	case then.N == 0:
		return nil
	}
	proof, err := tlog.ProveTree(now.N, then.N, stored)
	if err != nil {
		return misread(err)
	}
	if err := tlog.CheckTree(proof, now.N, now.Hash, then.N, then.Hash); err != nil {
		return verdict{fmt.Errorf("size %d is not a prefix of size %d: %w", then.N, now.N, err)}
	}
	return nil
}

// unserved turns a resource that the signed size promises and the log doesn't serve into a verdict.
func unserved(err error) error {
	if errors.Is(err, c2sp.ErrNotFound) {
		return verdict{err}
	}
	return err
}

// misread judges an error of x/mod's tile reader: one of fetching stays what it is, all others say that
// the tiles don't lead to the signed root.
func misread(err error) error {
	var fetch fetchError
	if errors.As(err, &fetch) {
		return unserved(err)
	}
	return verdict{err}
}

// fetchError is an error from fetching a tile, in contrast to one about what it contains.
type fetchError struct{ error }

func (e fetchError) Unwrap() error { return e.error }

// hashes of a tree in memory, numbered as x/mod stores them.
type hashes []tlog.Hash

func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		out[i] = h[index]
	}
	return out, nil
}

// tiles fetches for x/mod's reader, which authenticates what it gets before it uses it.
type tiles struct {
	ctx    context.Context
	client *c2sp.Client
	cache  map[tlog.Tile][]byte
}

func (t *tiles) Height() int { return c2sp.TileHeight }

func (t *tiles) ReadTiles(want []tlog.Tile) ([][]byte, error) {
	out := make([][]byte, len(want))
	for i, tile := range want {
		if data, ok := t.cache[tile]; ok {
			out[i] = data
			continue
		}
		data, err := t.client.Get(t.ctx, c2sp.TilePath(tile))
		if err != nil {
			return nil, fetchError{err}
		}
		if len(data) != tile.W*tlog.HashSize {
			return nil, fmt.Errorf("%s: %d bytes", c2sp.TilePath(tile), len(data))
		}
		out[i] = data
	}
	return out, nil
}

func (t *tiles) SaveTiles(confirmed []tlog.Tile, data [][]byte) {
	if t.cache == nil {
		t.cache = map[tlog.Tile][]byte{}
	}
	for i, tile := range confirmed {
		t.cache[tile] = data[i]
	}
}
