// Command peerfsck runs the integrity check of another tlog-tiles implementation, Tessera, on a log.
//
//	go run ./peerfsck URL|DIR VKEY
//
// Tessera streams the entries, rebuilds root and tiles from them, and compares with what the log serves.
// We use its library rather than its command: the command reports a failure only in its log and then
// exits with status 0.
//
// Exit status: 0 the check passed, 1 it did not, 2 bad arguments.
package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: peerfsck URL|DIR VKEY")
		os.Exit(2)
	}
	log, err := note.NewVerifier(os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "peerfsck: vkey:", err)
		os.Exit(2)
	}
	source, err := fetcher(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "peerfsck:", err)
		os.Exit(2)
	}
	check := fsck.New(log.Name(), log, source, leafHashes, fsck.Opts{N: 2})
	if err := check.Check(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "peerfsck: the log does not hold:", err)
		os.Exit(1)
	}
	fmt.Printf("peerfsck: %s holds\n", log.Name())
}

func fetcher(prefix string) (fsck.Fetcher, error) {
	if !strings.HasPrefix(prefix, "http://") && !strings.HasPrefix(prefix, "https://") {
		return &client.FileFetcher{Root: prefix}, nil
	}
	root, err := url.Parse(strings.TrimSuffix(prefix, "/") + "/")
	if err != nil {
		return nil, err
	}
	return client.NewHTTPFetcher(root, nil)
}

// leafHashes of the entries in one bundle.
func leafHashes(data []byte) ([][]byte, error) {
	var bundle api.EntryBundle
	if err := bundle.UnmarshalText(data); err != nil {
		return nil, err
	}
	var out [][]byte
	for _, entry := range bundle.Entries {
		hash := tlog.RecordHash(entry)
		out = append(out, hash[:])
	}
	return out, nil
}
