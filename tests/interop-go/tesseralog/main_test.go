package main

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

func TestGrowsUnderOneKey(t *testing.T) {
	dir := scratch(t)
	var vkey string
	for _, step := range []struct {
		add  uint64
		says string
	}{{300, "300"}, {0, "300"}, {5, "305"}} {
		said, err := run(context.Background(), "log.example", dir, step.add, "", "")
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(said)
		if len(fields) != 3 || fields[1] != step.says || fields[2] != "log.example" {
			t.Fatalf("%d more: %q", step.add, said)
		}
		if vkey == "" {
			vkey = fields[0]
		}
		if fields[0] != vkey {
			t.Errorf("another key: %q", said)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "tile/entries/001.p/49")); err != nil {
		t.Error(err)
	}
	if _, err := run(context.Background(), "other.example", dir, 1, "", ""); err == nil {
		t.Error("another origin under the same key")
	}
}

func TestNothingIsPublishedWithoutWitnesses(t *testing.T) {
	dir := scratch(t)
	policy := dir + ".policy"
	_, vkey, err := note.GenerateKey(rand.Reader, "witness.example/w")
	if err != nil {
		t.Fatal(err)
	}
	if vkey, err = fnote.VKeyToCosignatureV1(vkey); err != nil {
		t.Fatal(err)
	}
	text := "witness w " + vkey + " http://127.0.0.1:1/\nquorum w\n"
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	said, err := run(ctx, "log.example", dir, 1, "", policy)
	if err == nil || !strings.Contains(err.Error(), "witness policy was not satisfied") {
		t.Errorf("published: %q, %v", said, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "checkpoint")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a checkpoint: %v", err)
	}
}

// scratch is a place for a log. Tessera may still be writing there when a test ends, so nothing insists that
// it can be removed.
func scratch(t *testing.T) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "tesseralog")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	return filepath.Join(parent, "log")
}
