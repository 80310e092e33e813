package vectors

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"strings"
	"testing"

	f_note "github.com/transparency-dev/formats/note"
	f_proof "github.com/transparency-dev/formats/proof"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"anchorlog.test/interop/c2sp"
)

// load gives the exported vectors, or skips the test where none were exported.
func load(t *testing.T) *File {
	t.Helper()
	path := os.Getenv("ANCHORLOG_VECTORS")
	if path == "" {
		t.Skip("skipped: ANCHORLOG_VECTORS is not set; `scripts/interop` exports the vectors and sets it")
	}
	file, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d, %d entries", file.Seed, len(file.Entries))
	return file
}

// hashes is a log of stored hashes as x/mod numbers them.
type hashes []tlog.Hash

func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		out[i] = h[index]
	}
	return out, nil
}

// reference builds the whole tree with x/mod's own code.
func reference(t *testing.T, file *File) hashes {
	t.Helper()
	var stored hashes
	for i, entry := range file.Entries {
		more, err := tlog.StoredHashes(int64(i), entry, stored)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
	}
	return stored
}

func rootOf(t *testing.T, stored hashes, size int64) tlog.Hash {
	t.Helper()
	root, err := tlog.TreeHash(size, stored)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// atLeast fails a test whose input is so small that it shows nothing.
func atLeast(t *testing.T, what string, got, want int) {
	t.Helper()
	if got < want {
		t.Fatalf("%d %s in the vectors, want at least %d", got, what, want)
	}
}

func equal(a, b []tlog.Hash) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestRoots(t *testing.T) {
	file := load(t)
	atLeast(t, "roots", len(file.Roots), 30)
	stored := reference(t, file)
	for _, v := range file.Roots {
		if want := rootOf(t, stored, v.Size); v.Root != want {
			t.Errorf("size %d: our root %v, x/mod's %v", v.Size, v.Root, want)
		}
	}
}

func TestInclusionProofs(t *testing.T) {
	file := load(t)
	atLeast(t, "inclusion proofs", len(file.Inclusion), 100)
	stored := reference(t, file)
	for _, v := range file.Inclusion {
		want, err := tlog.ProveRecord(v.Size, v.Index, stored)
		if err != nil {
			t.Fatal(err)
		}
		if !equal(v.Hashes, want) {
			t.Errorf("index %d of %d: our path %v, x/mod's %v", v.Index, v.Size, v.Hashes, want)
		}
		leaf := tlog.RecordHash(file.Entries[v.Index])
		if err := tlog.CheckRecord(v.Hashes, v.Size, rootOf(t, stored, v.Size), v.Index, leaf); err != nil {
			t.Errorf("index %d of %d: %v", v.Index, v.Size, err)
		}
	}
}

func TestConsistencyProofs(t *testing.T) {
	file := load(t)
	atLeast(t, "consistency proofs", len(file.Consistency), 100)
	stored := reference(t, file)
	for _, v := range file.Consistency {
		want, err := tlog.ProveTree(v.To, v.From, stored)
		if err != nil {
			t.Fatal(err)
		}
		if !equal(v.Hashes, want) {
			t.Errorf("%d to %d: our path %v, x/mod's %v", v.From, v.To, v.Hashes, want)
		}
		err = tlog.CheckTree(v.Hashes, v.To, rootOf(t, stored, v.To), v.From, rootOf(t, stored, v.From))
		if err != nil {
			t.Errorf("%d to %d: %v", v.From, v.To, err)
		}
	}
}

// Our tiles of a size are exactly the tiles that x/mod computes for it, path by path and byte by byte,
// and the bundles beside them hold exactly the entries.
func TestTiles(t *testing.T) {
	file := load(t)
	atLeast(t, "tile sets", len(file.Tiles), 3)
	stored := reference(t, file)
	for _, v := range file.Tiles {
		ours := map[string][]byte{}
		for _, f := range v.Files {
			ours[f.Path] = f.Bytes
		}
		var bundled int
		for _, tile := range tlog.NewTiles(c2sp.TileHeight, 0, v.Size) {
			want, err := tlog.ReadTileData(tile, stored)
			if err != nil {
				t.Fatal(err)
			}
			path := c2sp.TilePath(tile)
			if got, ok := ours[path]; !ok {
				t.Errorf("size %d: no %s", v.Size, path)
			} else if !bytes.Equal(got, want) {
				t.Errorf("size %d: %s has other bytes than x/mod's", v.Size, path)
			}
			delete(ours, path)
			if tile.L != 0 {
				continue
			}
			path = c2sp.BundlePath(tile.N, tile.W)
			entries, err := c2sp.ParseBundle(ours[path], tile.W)
			if err != nil {
				t.Errorf("size %d: %s: %v", v.Size, path, err)
			}
			for i, entry := range entries {
				if !bytes.Equal(entry, file.Entries[tile.N*c2sp.TileWidth+int64(i)]) {
					t.Errorf("size %d: %s: entry %d differs", v.Size, path, i)
				}
				bundled++
			}
			delete(ours, path)
		}
		if int64(bundled) != v.Size {
			t.Errorf("size %d: %d entries in the bundles", v.Size, bundled)
		}
		for path := range ours {
			t.Errorf("size %d: %s should not exist", v.Size, path)
		}
	}
}

func verifier(t *testing.T, vkey string) note.Verifier {
	t.Helper()
	v, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatalf("vkey %q: %v", vkey, err)
	}
	return v
}

// Our notes open under x/mod, and x/mod signing the same text with the same key gives the same bytes.
func TestNotes(t *testing.T) {
	file := load(t)
	atLeast(t, "notes", len(file.Notes), 5)
	for i, v := range file.Notes {
		opened, err := note.Open([]byte(v.Note), note.VerifierList(verifier(t, v.Vkey)))
		if err != nil {
			t.Errorf("note %d: %v", i, err)
			continue
		}
		if opened.Text != v.Text {
			t.Errorf("note %d: text %q, want %q", i, opened.Text, v.Text)
		}
		signer, err := note.NewSigner(v.Skey)
		if err != nil {
			t.Fatalf("note %d: skey: %v", i, err)
		}
		signed, err := note.Sign(&note.Note{Text: v.Text}, signer)
		if err != nil {
			t.Fatal(err)
		}
		if string(signed) != v.Note {
			t.Errorf("note %d: ours\n%s\nx/mod's\n%s", i, v.Note, signed)
		}
	}
}

func TestCheckpoints(t *testing.T) {
	file := load(t)
	atLeast(t, "checkpoints", len(file.Checkpoints), 5)
	stored := reference(t, file)
	for i, v := range file.Checkpoints {
		checkpoint, err := c2sp.OpenCheckpoint([]byte(v.Note), verifier(t, v.Vkey))
		if err != nil {
			t.Errorf("checkpoint %d: %v", i, err)
			continue
		}
		if checkpoint.Origin != v.Origin || checkpoint.N != v.Size || checkpoint.Hash != v.Root {
			t.Errorf("checkpoint %d: %+v, want %+v", i, checkpoint, v)
		}
		if want := rootOf(t, stored, v.Size); v.Root != want {
			t.Errorf("checkpoint %d: root %v, x/mod's %v", i, v.Root, want)
		}
	}
}

func TestCosignatures(t *testing.T) {
	file := load(t)
	atLeast(t, "cosigned checkpoints", len(file.Cosigned), 2)
	for i, v := range file.Cosigned {
		witness, err := f_note.NewVerifierForCosignatureV1(v.WitnessVkey)
		if err != nil {
			t.Fatalf("cosigned %d: %v", i, err)
		}
		opened, err := note.Open([]byte(v.Note), note.VerifierList(verifier(t, v.LogVkey), witness))
		if err != nil {
			t.Errorf("cosigned %d: %v", i, err)
			continue
		}
		if len(opened.Sigs) != 2 {
			t.Errorf("cosigned %d: %d verified signatures, want the log's and the witness's", i, len(opened.Sigs))
		}
		for _, sig := range opened.Sigs {
			if sig.Hash != witness.KeyHash() || sig.Name != witness.Name() {
				continue
			}
			at, err := f_note.CoSigV1Timestamp(sig)
			if err != nil {
				t.Errorf("cosigned %d: %v", i, err)
			} else if at.Unix() != v.Time {
				t.Errorf("cosigned %d: time %d, want %d", i, at.Unix(), v.Time)
			}
		}
	}
}

func TestTlogProofs(t *testing.T) {
	file := load(t)
	atLeast(t, "tlog-proofs", len(file.Proofs), 10)
	for i, v := range file.Proofs {
		var parsed f_proof.TLogProof
		if err := parsed.Unmarshal([]byte(v.Text)); err != nil {
			t.Errorf("proof %d: %v", i, err)
			continue
		}
		if again := parsed.Marshal(); string(again) != v.Text {
			t.Errorf("proof %d: ours\n%s\nre-encoded\n%s", i, v.Text, again)
		}
		if parsed.Index != uint64(v.Index) {
			t.Errorf("proof %d: index %d, want %d", i, parsed.Index, v.Index)
		}
		checkpoint, err := c2sp.OpenCheckpoint(parsed.Checkpoint, verifier(t, v.Vkey))
		if err != nil {
			t.Errorf("proof %d: %v", i, err)
			continue
		}
		var path []tlog.Hash
		for _, hash := range parsed.Hashes {
			path = append(path, tlog.Hash(hash))
		}
		leaf := tlog.RecordHash(file.Entries[v.Index])
		if err := tlog.CheckRecord(path, checkpoint.N, checkpoint.Hash, v.Index, leaf); err != nil {
			t.Errorf("proof %d: %v", i, err)
		}
	}
}

func TestRefused(t *testing.T) {
	file := load(t)
	atLeast(t, "refused inclusion proofs", len(file.Refused.Inclusion), 20)
	atLeast(t, "refused consistency proofs", len(file.Refused.Consistency), 20)
	atLeast(t, "refused notes", len(file.Refused.Notes), 5)
	for i, v := range file.Refused.Inclusion {
		if tlog.CheckRecord(v.Hashes, v.Size, v.Root, v.Index, v.LeafHash) == nil {
			t.Errorf("inclusion %d (%s): x/mod accepts what we refuse", i, v.Why)
		}
	}
	for i, v := range file.Refused.Consistency {
		if tlog.CheckTree(v.Hashes, v.To, v.ToRoot, v.From, v.FromRoot) == nil {
			t.Errorf("consistency %d (%s): x/mod accepts what we refuse", i, v.Why)
		}
	}
	for i, v := range file.Refused.Notes {
		if _, err := note.Open([]byte(v.Note), note.VerifierList(verifier(t, v.Vkey))); err == nil {
			t.Errorf("note %d (%s): x/mod opens what we refuse", i, v.Why)
		}
	}
}

// The root of the empty tree is the one number that x/mod once had otherwise: held to RFC 6962.
func TestEmptyRoot(t *testing.T) {
	file := load(t)
	for _, v := range file.Roots {
		if want := tlog.Hash(sha256.Sum256(nil)); v.Size == 0 && v.Root != want {
			t.Errorf("size 0: %v, want %v", v.Root, want)
		}
	}
}

// A vkey survives the way through x/mod: name, key id and key are read as we wrote them.
func TestVkeys(t *testing.T) {
	file := load(t)
	for i, v := range file.Notes {
		read := verifier(t, v.Vkey)
		name, rest, _ := strings.Cut(v.Vkey, "+")
		if read.Name() != name {
			t.Errorf("vkey %d: name %q, want %q", i, read.Name(), name)
		}
		_, encoded, _ := strings.Cut(rest, "+")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		again, err := note.NewEd25519VerifierKey(name, key[1:])
		if err != nil {
			t.Fatal(err)
		}
		if again != v.Vkey {
			t.Errorf("vkey %d: ours %q, x/mod's %q", i, v.Vkey, again)
		}
	}
}
