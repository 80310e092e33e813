package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"anchorlog.test/interop/c2sp/c2sptest"
)

// holds tells whether follow accepted the log; an error that is no verdict fails the test.
func holds(t *testing.T, log *c2sptest.Log, since, save string) bool {
	t.Helper()
	err := follow(context.Background(), log.Dir, log.Vkey, since, save)
	var against verdict
	if err != nil && !errors.As(err, &against) {
		t.Fatal(err)
	}
	return err == nil
}

func TestFollow(t *testing.T) {
	for _, size := range []int64{0, 1, 255, 256, 257, 600} {
		log := c2sptest.New(t)
		log.Publish(t, size)
		if !holds(t, log, "", "") {
			t.Errorf("a good log of %d entries was refused", size)
		}
	}
}

func TestFollowRefusesDamage(t *testing.T) {
	for _, path := range []string{
		"checkpoint", "tile/0/000", "tile/0/002.p/88", "tile/1/000.p/2", "tile/entries/001", "tile/entries/002.p/88",
	} {
		log := c2sptest.New(t)
		log.Publish(t, 600)
		log.Flip(t, path)
		if holds(t, log, "", "") {
			t.Errorf("a flipped bit in %s was not seen", path)
		}
	}
}

func TestFollowSince(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "checkpoint")
	log := c2sptest.New(t)
	log.Publish(t, 300)
	if !holds(t, log, "", saved) {
		t.Fatal("a good log was refused")
	}
	log.Publish(t, 600)
	if !holds(t, log, saved, "") {
		t.Error("a log that grew was refused")
	}
	log.Publish(t, 299)
	if holds(t, log, saved, "") {
		t.Error("a log that shrank was accepted")
	}
}
