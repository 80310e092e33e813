package main

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

func TestQuorumOrNot(t *testing.T) {
	key := func(name string) (string, string) {
		skey, vkey, err := note.GenerateKey(rand.Reader, name)
		if err != nil {
			t.Fatal(err)
		}
		return skey, vkey
	}
	logKey, vkey := key("log.example")
	log, err := note.NewSigner(logKey)
	if err != nil {
		t.Fatal(err)
	}
	witnessKey, witnessPlain := key("witness.example/w")
	witness, err := fnote.NewSignerForCosignatureV1(witnessKey)
	if err != nil {
		t.Fatal(err)
	}
	_, other := key("witness.example/w")
	otherVkey, err := fnote.VKeyToCosignatureV1(other)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("log.example\n0\n%s\n", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
	sign := func(signers ...note.Signer) []byte {
		signed, err := note.Sign(&note.Note{Text: text}, signers...)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	policy := func(vkey string) []byte {
		return []byte("witness w " + vkey + " http://127.0.0.1:1/\nquorum w\n")
	}
	own, err := fnote.VKeyToCosignatureV1(witnessPlain)
	if err != nil {
		t.Fatal(err)
	}
	if size, err := judge(policy(own), vkey, sign(log, witness)); err != nil || size != 0 {
		t.Errorf("a quorum: %d, %v", size, err)
	}
	for _, tc := range []struct {
		why, policy string
		note        []byte
	}{
		{"nobody cosigned", own, sign(log)},
		{"another witness cosigned", otherVkey, sign(log, witness)},
		{"the log didn't sign", own, sign(witness)},
	} {
		if _, err := judge(policy(tc.policy), vkey, tc.note); err == nil {
			t.Errorf("accepted although %s", tc.why)
		}
	}
	if _, err := judge([]byte(strings.ReplaceAll(string(policy(own)), "quorum w", "")), vkey, sign(log)); err == nil {
		t.Error("accepted under a policy without quorum")
	}
}
