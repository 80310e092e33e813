// Command litekey sets up what litewitness finds ready when it starts: a database with the logs it is to
// cosign, and an SSH agent that holds its key.
//
//	go run ./litekey DATABASE SOCKET LOG-VKEY...
//
// litewitness has a command of its own for the logs, witnessctl, which we leave out: it needs a module of Sigsum
// (sigsum.org/sigsum-go) that not every module proxy serves. Its `add-log` and `add-key` are the two
// INSERTs below; the tables are those of litewitness v0.6.1.
//
// It prints the fingerprint of the key, a new one each time, and serves the agent until it is killed.
package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"os"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/mod/sumdb/note"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

const tables = `
	CREATE TABLE log (origin TEXT PRIMARY KEY, tree_size INTEGER NOT NULL, tree_hash TEXT NOT NULL);
	CREATE TABLE key (origin TEXT NOT NULL, key TEXT NOT NULL, FOREIGN KEY(origin) REFERENCES log(origin));
`

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: litekey DATABASE SOCKET LOG-VKEY...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "litekey:", err)
		os.Exit(1)
	}
}

func run(database, socket string, vkeys []string) error {
	if err := addLogs(database, vkeys); err != nil {
		return err
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	keys := agent.NewKeyring()
	if err := keys.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		return err
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	fmt.Println(ssh.FingerprintSHA256(key))
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			// It ends when the other side goes away.
			_ = agent.ServeAgent(keys, connection)
			connection.Close()
		}()
	}
}

func addLogs(database string, vkeys []string) error {
	db, err := sqlite.OpenConn(database)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := sqlitex.ExecScript(db, tables); err != nil {
		return err
	}
	empty := sha256.Sum256(nil)
	for _, vkey := range vkeys {
		log, err := note.NewVerifier(vkey)
		if err != nil {
			return err
		}
		insert := func(query string, values ...any) error {
			return sqlitex.Execute(db, query, &sqlitex.ExecOptions{Args: values})
		}
		root := base64.StdEncoding.EncodeToString(empty[:])
		if err := insert("INSERT INTO log (origin, tree_size, tree_hash) VALUES (?, 0, ?)", log.Name(), root); err != nil {
			return err
		}
		if err := insert("INSERT INTO key (origin, key) VALUES (?, ?)", log.Name(), vkey); err != nil {
			return err
		}
	}
	return nil
}
