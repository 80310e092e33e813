// Command cosigned judges a checkpoint by a policy, with Tessera's code for witnesses and x/mod's for the log.
//
//	go run ./cosigned POLICY VKEY < NOTE
//
// Exit status: 0 the log signed it and the policy's quorum cosigned it, 1 they did not, 2 bad arguments.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/transparency-dev/formats/log"
	"github.com/transparency-dev/tessera"
	"golang.org/x/mod/sumdb/note"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: cosigned POLICY VKEY < NOTE")
		os.Exit(2)
	}
	policy, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "cosigned:", err)
		os.Exit(2)
	}
	checkpoint, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cosigned:", err)
		os.Exit(2)
	}
	size, err := judge(policy, os.Args[2], checkpoint)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cosigned:", err)
		os.Exit(1)
	}
	fmt.Println("cosigned:", size, "entries")
}

// judge returns the size of a checkpoint that satisfies the policy.
func judge(policy []byte, vkey string, checkpoint []byte) (uint64, error) {
	witnesses, err := tessera.NewWitnessGroupFromPolicy(policy)
	if err != nil {
		return 0, err
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return 0, err
	}
	parsed, _, _, err := log.ParseCheckpoint(checkpoint, verifier.Name(), verifier)
	if err != nil {
		return 0, err
	}
	if !witnesses.Satisfied(checkpoint) {
		return 0, errors.New("the policy's quorum has not cosigned")
	}
	return parsed.Size, nil
}
