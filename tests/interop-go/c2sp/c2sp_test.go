package c2sp

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		tile tlog.Tile
		want string
	}{
		{tlog.Tile{H: 8, L: 0, N: 0, W: 256}, "tile/0/000"},
		{tlog.Tile{H: 8, L: 0, N: 273, W: 112}, "tile/0/273.p/112"},
		{tlog.Tile{H: 8, L: 1, N: 999, W: 256}, "tile/1/999"},
		{tlog.Tile{H: 8, L: 2, N: 1000, W: 1}, "tile/2/x001/000.p/1"},
		{tlog.Tile{H: 8, L: 0, N: 1234067, W: 256}, "tile/0/x001/x234/067"},
		{tlog.Tile{H: 8, L: 63, N: 1000000000, W: 255}, "tile/63/x001/x000/x000/000.p/255"},
	} {
		if got := TilePath(c.tile); got != c.want {
			t.Errorf("%+v: %s, want %s", c.tile, got, c.want)
		}
	}
	if got, want := BundlePath(1000, 7), "tile/entries/x001/000.p/7"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParseBundle(t *testing.T) {
	entries, err := ParseBundle([]byte("\x00\x02ab\x00\x00\x00\x01c"), 3)
	if err != nil || len(entries) != 3 || string(entries[0]) != "ab" || string(entries[2]) != "c" {
		t.Fatalf("%q, %v", entries, err)
	}
	for _, bad := range []struct {
		data  string
		width int
	}{
		{"\x00", 1}, {"\x00\x02a", 1}, {"\x00\x01a", 2}, {"\x00\x01a\x00\x01b", 1},
	} {
		if _, err := ParseBundle([]byte(bad.data), bad.width); err == nil {
			t.Errorf("%q as %d entries was accepted", bad.data, bad.width)
		}
	}
}

func TestOpenCheckpoint(t *testing.T) {
	skey, vkey, err := note.GenerateKey(rand.Reader, "log.example")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	log, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	root := tlog.RecordHash([]byte("entry"))
	sign := func(text string) []byte {
		signed, err := note.Sign(&note.Note{Text: text}, signer)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	good := sign(fmt.Sprintf("log.example\n1\n%v\n", root))
	checkpoint, err := OpenCheckpoint(good, log)
	if err != nil || checkpoint.N != 1 || checkpoint.Hash != root || checkpoint.Origin != "log.example" {
		t.Fatalf("%+v, %v", checkpoint, err)
	}
	for _, bad := range [][]byte{
		[]byte(strings.Replace(string(good), "\n1\n", "\n2\n", 1)),
		sign(fmt.Sprintf("other.example\n1\n%v\n", root)),
		sign(fmt.Sprintf("log.example\n01\n%v\n", root)),
		sign(fmt.Sprintf("log.example\n-1\n%v\n", root)),
		sign(fmt.Sprintf("log.example\n9223372036854775808\n%v\n", root)),
		sign("log.example\n1\nAAAA\n"),
		sign(fmt.Sprintf("log.example\n1\n%v\nextension\n", root)),
	} {
		if _, err := OpenCheckpoint(bad, log); err == nil {
			t.Errorf("accepted:\n%s", bad)
		}
	}
}
