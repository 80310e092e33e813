package main

import (
	"context"
	"testing"

	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"

	"anchorlog.test/interop/c2sp/c2sptest"
)

func check(t *testing.T, log *c2sptest.Log) error {
	t.Helper()
	key, err := note.NewVerifier(log.Vkey)
	if err != nil {
		t.Fatal(err)
	}
	source, err := fetcher(log.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return fsck.New(key.Name(), key, source, leafHashes, fsck.Opts{N: 2}).Check(context.Background())
}

func TestPeerAcceptsAGoodLog(t *testing.T) {
	log := c2sptest.New(t)
	log.Publish(t, 600)
	if err := check(t, log); err != nil {
		t.Error(err)
	}
}

func TestPeerRefusesDamage(t *testing.T) {
	for _, path := range []string{"checkpoint", "tile/0/000", "tile/1/000.p/2", "tile/entries/001"} {
		log := c2sptest.New(t)
		log.Publish(t, 600)
		log.Flip(t, path)
		if check(t, log) == nil {
			t.Errorf("a flipped bit in %s was not seen", path)
		}
	}
}
