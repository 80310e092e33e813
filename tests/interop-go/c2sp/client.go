package c2sp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// MaxResource bounds what a log may send for one path: a full bundle of the largest entries.
const MaxResource = TileWidth * (2 + 1<<16)

// ErrNotFound is what Client.Get gives for a path the log doesn't have.
var ErrNotFound = errors.New("not found")

// Client reads the resources of one log, over HTTP or from a directory that was exported.
type Client struct {
	prefix string
	http   *http.Client
}

// NewClient takes the log's URL prefix, or the path of a directory.
func NewClient(prefix string) *Client {
	return &Client{strings.TrimSuffix(prefix, "/"), &http.Client{Timeout: 30 * time.Second}}
}

// Get reads one resource below the prefix.
func (c *Client) Get(ctx context.Context, path string) ([]byte, error) {
	if !strings.HasPrefix(c.prefix, "http://") && !strings.HasPrefix(c.prefix, "https://") {
		data, err := os.ReadFile(filepath.Join(c.prefix, filepath.FromSlash(path)))
		if errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("%s: %w", path, ErrNotFound)
		}
		return data, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.prefix+"/"+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", path, ErrNotFound)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: status %s", path, response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, MaxResource+1))
	if err == nil && len(data) > MaxResource {
		err = fmt.Errorf("%s: more than %d bytes", path, MaxResource)
	}
	return data, err
}
