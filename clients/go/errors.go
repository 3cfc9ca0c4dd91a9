package aeond

import (
	"context"
	"math/rand"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Error is a failed call: use errors.As. Code says how to react; Reason is a stable UPPER_SNAKE word for programs,
// listed in docs/api.md.
type Error struct {
	Code    codes.Code
	Reason  string
	Message string
	// The invalid part of the request. Empty: none.
	Field string
	// An id to search for in the daemon's log. Empty: none.
	ErrorID string
	// The delay that the daemon asks for. 0: none.
	RetryAfter time.Duration
}

func (e *Error) Error() string { return e.Reason + ": " + e.Message }

// errorOf returns the error that the daemon reported, or gRPC in its place (CONNECTION_LOST or TIMED_OUT).
func errorOf(err error, trailer metadata.MD) *Error {
	text := func(key string) string {
		if values := trailer.Get(key); len(values) > 0 {
			return values[0]
		}
		return ""
	}
	reported := status.Convert(err)
	found := &Error{
		Code: reported.Code(), Reason: text("reason"), Message: reported.Message(),
		Field: text("field"), ErrorID: text("error-id"),
	}
	if wait, err := strconv.ParseFloat(text("retry-after-ms"), 64); err == nil {
		found.RetryAfter = time.Duration(wait * float64(time.Millisecond))
	}
	if found.Reason != "" {
		return found
	}
	switch found.Code {
	case codes.Unavailable, codes.Internal, codes.Unknown:
		found.Code, found.Reason = codes.Unavailable, "CONNECTION_LOST"
	case codes.Canceled:
		found.Reason = "CONNECTION_LOST"
	case codes.DeadlineExceeded:
		found.Reason = "TIMED_OUT"
	case codes.ResourceExhausted:
		found.Code, found.Reason = codes.Internal, "MESSAGE_TOO_LARGE"
	default:
		found.Reason = "INTERNAL"
	}
	return found
}

// mayRepeat reports whether the call can be repeated: the daemon rejected it before it began, or a repeat is harmless.
func (e *Error) mayRepeat(repeatable bool) bool {
	lost := e.Code == codes.Unavailable || e.Reason == "CONNECTION_LOST"
	return (repeatable && lost) || e.Reason == "STARTING" || e.Reason == "DRAINING"
}

// mayFollowOn reports whether a watch should reconnect, because the run is not at fault.
func (e *Error) mayFollowOn() bool {
	switch e.Code {
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded, codes.ResourceExhausted:
		return e.Reason != "CLIENT_CLOSED"
	default:
		return false
	}
}

// delay returns the wait after a failed attempt, counted from 1: it grows from first to longest, with jitter.
func delay(attempt int, first, longest, asked time.Duration) time.Duration {
	grown := first
	for ; attempt > 1 && grown < longest; attempt-- {
		grown *= 2
	}
	if grown > longest {
		grown = longest
	}
	grown = grown/2 + time.Duration(rand.Int63n(int64(grown/2)+1))
	if asked > longest {
		asked = longest
	}
	if grown < asked {
		return asked
	}
	return grown
}

// sleep waits and reports whether ctx allows to go on.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
