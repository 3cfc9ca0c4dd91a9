package aeond

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
)

// findSocket returns the first socket on which a daemon is listening. A given socket is the only candidate.
func findSocket(given string) (string, error) {
	candidates := []string{orDefault(given, os.Getenv("AEOND_SOCKET"))}
	if candidates[0] == "" {
		candidates = []string{userSocket(), "/run/aeond/aeond.sock"}
	}
	for _, path := range candidates {
		if probe, err := net.DialTimeout("unix", path, time.Second); err == nil {
			probe.Close()
			return path, nil
		}
	}
	return "", &Error{
		Code: codes.Unavailable, Reason: "NO_DAEMON",
		Message: "no daemon is listening; start one, or set AEOND_SOCKET; tried " + strings.Join(candidates, ", "),
	}
}

func userSocket() string {
	session := orDefault(os.Getenv("XDG_RUNTIME_DIR"), fmt.Sprintf("/run/user/%d", os.Getuid()))
	if found, err := os.Stat(session); err == nil && found.IsDir() {
		return filepath.Join(session, "aeond", "aeond.sock")
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		state = filepath.Join(os.Getenv("HOME"), ".local", "state")
	}
	return filepath.Join(state, "aeond", "run", "aeond.sock")
}
