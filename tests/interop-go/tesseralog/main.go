// Command tesseralog keeps a log with Tessera's POSIX storage, for our client to follow and our witness to
// cosign.
//
//	go run ./tesseralog -origin NAME -dir DIR -add N [-salt TEXT] [-policy FILE]
//
// The log lies in DIR, as any static host would serve it; its private key is DIR.skey, made on first use. N
// entries are added to those that are there: bytes of every length from 0 to 699, nothing that our log would
// admit. It prints the log's vkey, the published size, and the names of all who signed the checkpoint. With a policy (C2SP tlog-policy) nothing is published before its quorum has cosigned: Tessera
// is the witnesses' client then, and its own code verifies what they answer.
//
// Exit status: 0 the entries are published, 1 they are not, 2 bad arguments.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/transparency-dev/formats/log"
	"github.com/transparency-dev/tessera"
	"github.com/transparency-dev/tessera/storage/posix"
	"golang.org/x/mod/sumdb/note"
)

// patience is how long everything may take together.
const patience = time.Minute

func main() {
	origin := flag.String("origin", "tessera.example/log", "the log's name")
	dir := flag.String("dir", "", "where the log lies")
	add := flag.Uint64("add", 0, "how many entries are added")
	salt := flag.String("salt", "", "makes the added entries others than those of another salt")
	policy := flag.String("policy", "", "a tlog-policy file: whose cosignatures are needed")
	flag.Parse()
	if *dir == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	said, err := run(ctx, *origin, *dir, *add, *salt, *policy)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tesseralog:", err)
		os.Exit(1)
	}
	fmt.Println(said)
}

// run adds the entries and returns what is printed.
func run(ctx context.Context, origin, dir string, add uint64, salt, policy string) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signer, vkey, err := key(origin, dir+".skey")
	if err != nil {
		return "", err
	}
	driver, err := posix.New(ctx, posix.Config{Path: dir})
	if err != nil {
		return "", err
	}
	opts := tessera.NewAppendOptions().
		WithCheckpointSigner(signer).
		WithBatching(256, 50*time.Millisecond).
		WithCheckpointInterval(100 * time.Millisecond)
	var witnesses tessera.WitnessGroup
	if policy != "" {
		text, err := os.ReadFile(policy)
		if err != nil {
			return "", err
		}
		if witnesses, err = tessera.NewWitnessGroupFromPolicy(text); err != nil {
			return "", err
		}
		opts.WithWitnesses(witnesses, &tessera.WitnessOptions{Timeout: 10 * time.Second})
	}
	appender, shutdown, reader, err := tessera.NewAppender(ctx, driver, opts)
	if err != nil {
		return "", err
	}
	first, err := reader.IntegratedSize(ctx)
	if err != nil {
		return "", err
	}
	awaiter := tessera.NewPublicationAwaiter(ctx, reader.ReadCheckpoint, 50*time.Millisecond)
	futures := make([]tessera.IndexFuture, 0, add)
	for i := range add {
		futures = append(futures, appender.Add(ctx, tessera.NewEntry(entry(salt, first+i))))
	}
	var published []byte
	for i, future := range futures {
		index, checkpoint, err := awaiter.Await(ctx, future)
		if err != nil {
			return "", fmt.Errorf("entry %d of %d: %w", i, add, err)
		}
		if index.IsDup {
			return "", fmt.Errorf("entry %d is taken for another one", index.Index)
		}
		published = checkpoint
	}
	if err := shutdown(ctx); err != nil {
		return "", err
	}
	if published == nil {
		if published, err = reader.ReadCheckpoint(ctx); err != nil {
			return "", err
		}
	}
	if policy != "" && !witnesses.Satisfied(published) {
		return "", errors.New("published without the policy's quorum")
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return "", err
	}
	checkpoint, _, opened, err := log.ParseCheckpoint(published, origin, verifier)
	if err != nil {
		return "", err
	}
	names := []string{}
	for _, signature := range append(opened.Sigs, opened.UnverifiedSigs...) {
		names = append(names, signature.Name)
	}
	return fmt.Sprintf("%s %d %s", vkey, checkpoint.Size, strings.Join(names, " ")), nil
}

// key reads the log's keys, or makes them: the private one on the first line, the public one on the second.
func key(origin, path string) (note.Signer, string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		skey, vkey, err := note.GenerateKey(rand.Reader, origin)
		if err != nil {
			return nil, "", err
		}
		text = []byte(skey + "\n" + vkey + "\n")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, "", err
		}
	} else if err != nil {
		return nil, "", err
	}
	skey, vkey, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	signer, err := note.NewSigner(skey)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	if signer.Name() != origin {
		return nil, "", fmt.Errorf("%s is the key of %s", path, signer.Name())
	}
	return signer, vkey, nil
}

// entry is the content of the entry at an index: bytes that mean nothing.
func entry(salt string, index uint64) []byte {
	data := []byte{}
	for part := uint64(0); uint64(len(data)) < index%700; part++ {
		hash := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d", salt, index, part))
		data = append(data, hash[:]...)
	}
	return data[:index%700]
}
