package aeond

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc/codes"

	pb "aeond.internal/client/aeondpb"
)

// Watch has the events of a run in order, without gaps or duplicates, across lost connections and restarts of the
// daemon. It must not be used from several goroutines at once.
type Watch struct {
	client            *Client
	ctx               context.Context
	runID             string
	firstSeq, lastSeq int64

	// With children, the watch also has the events of all runs below: the last seq of each, and those that have not ended.
	children  bool
	childSeqs map[string]int64
	open      map[string]bool
	runEnded  bool

	stream   pb.RunService_WatchRunClient
	cancel   context.CancelFunc
	page     []*Event
	event    *Event
	ended    bool
	err      error
	openedAt time.Time
	lostAt   time.Time
	tries    int
}

// Next waits for the next event and reports whether there is one; after false, Err has the error, if any.
func (w *Watch) Next() bool {
	for w.err == nil {
		for len(w.page) > 0 {
			event := w.page[0]
			w.page = w.page[1:]
			if event.Seq > w.seqOf(event)+1 {
				w.lost(broken("EVENTS_MISSING", "events are missing in the stream"))
			} else if w.accept(event) {
				w.event = event
				return true
			}
		}
		if w.ended {
			w.Close()
			return false
		}
		w.receive()
	}
	w.Close()
	return false
}

// Event returns the event of the last call of Next. Events with seq 0 are live updates, which are not repeated. An
// event of a kind that this client does not have has no kind set: ignore it.
func (w *Watch) Event() *Event { return w.event }

// Err returns the *Error that ended the watch; nil: it ended with the run.
func (w *Watch) Err() error { return w.err }

// RunID returns the id of the run.
func (w *Watch) RunID() string { return w.runID }

// LastSeq returns the position from which another watch can resume, also in another process.
func (w *Watch) LastSeq() int64 { return w.lastSeq }

// Close ends the stream; the run continues.
func (w *Watch) Close() {
	if w.cancel != nil {
		w.cancel()
	}
	w.stream, w.cancel, w.page, w.ended = nil, nil, nil, true
}

// answer closes the watch at the end of the run, or when that or a run below waits for a person, and returns the event with
// the answer of the run.
func (w *Watch) answer() (*Event, error) {
	defer w.Close()
	var answered *Event
	for w.Next() {
		event := w.Event()
		if mayNeedAPerson(event) {
			// The run may have continued since the event: its state tells.
			run, err := w.client.Get(w.ctx, event.RunId)
			if err != nil {
				return nil, err
			}
			if waits(run) {
				return nil, noAnswer(event.RunId)
			}
		}
		if event.GetAnswerComposed() != nil && event.RunId == w.runID {
			answered = event
		}
	}
	if w.Err() != nil {
		return nil, w.Err()
	}
	if answered == nil {
		return nil, noAnswer(w.runID)
	}
	return answered, nil
}

// mayNeedAPerson reports whether the run of an event started to wait for a person.
func mayNeedAPerson(event *Event) bool {
	return event.GetInputRequested() != nil || event.GetApprovalRequested() != nil || event.GetRunSuspended() != nil
}

// waits reports whether a run waits for a person. A run that a full disk suspended continues by itself.
func waits(run *Run) bool {
	if run.State == pb.RunState_RUN_STATE_SUSPENDED && run.SuspendReason == pb.SuspendReason_SUSPEND_REASON_DISK_FULL {
		return len(run.Questions) > 0 || len(run.Approvals) > 0
	}
	return run.State == pb.RunState_RUN_STATE_SUSPENDED || run.State == pb.RunState_RUN_STATE_AWAITING_INPUT
}

func noAnswer(runID string) *Error {
	message := fmt.Sprintf("run %s has no answer: see its state", runID)
	return &Error{Code: codes.FailedPrecondition, Reason: "NO_ANSWER", Message: message}
}

// receive opens a stream if there is none, and receives a page.
func (w *Watch) receive() {
	if w.stream == nil {
		limited, cancel := context.WithTimeout(w.ctx, w.client.options.StreamTimeout)
		request := &pb.WatchRunRequest{
			RunId: w.runID, AfterSeq: w.lastSeq, IncludeChildren: w.children, ChildSeqs: w.childSeqs,
		}
		stream, err := w.client.streams.WatchRun(limited, request)
		w.cancel = cancel
		if err != nil {
			w.lost(w.client.errorOf(err, nil))
			return
		}
		// The daemon sends the header when it accepts the watch, before any event. Its error is also Recv's.
		_, _ = stream.Header()
		w.stream, w.openedAt = stream, time.Now()
	}
	response, err := w.stream.Recv()
	switch {
	case err == nil:
		w.page = response.Events
	case errors.Is(err, io.EOF) && (w.runEnded || w.firstSeq > 0 && w.firstSeq == w.lastSeq):
		w.ended = true // the run has ended, maybe before this watch began, and so have all runs below
	case errors.Is(err, io.EOF):
		w.lost(broken("STREAM_ENDED", "the stream ended before the run did"))
	default:
		w.lost(w.client.errorOf(err, w.stream.Trailer()))
	}
}

// isOwn reports whether an event is one of the run itself, and not of a run below.
func (w *Watch) isOwn(event *Event) bool { return !w.children || event.RunId == w.runID }

// seqOf returns the last seq that was received of the run of an event.
func (w *Watch) seqOf(event *Event) int64 {
	if w.isOwn(event) {
		return w.lastSeq
	}
	return w.childSeqs[event.RunId]
}

// accept reports whether to return the event: each numbered event once, live updates always.
func (w *Watch) accept(event *Event) bool {
	if event.Seq == 0 {
		return true
	}
	if event.Seq <= w.seqOf(event) {
		return false
	}
	if w.isOwn(event) {
		w.lastSeq = event.Seq
		w.runEnded = event.GetRunEnded() != nil
	} else {
		w.childSeqs[event.RunId] = event.Seq
	}
	if w.children {
		w.noteChild(event)
	}
	w.ended = w.runEnded && len(w.open) == 0
	w.lostAt, w.tries = time.Time{}, 0
	return true
}

// noteChild notes the runs below that start and end with an event.
func (w *Watch) noteChild(event *Event) {
	if started := event.GetChildRunStarted(); started != nil {
		w.open[started.ChildRunId] = true
	}
	if event.GetRunEnded() != nil {
		delete(w.open, event.RunId)
	}
	if ended := event.GetChildRunEnded(); ended != nil {
		delete(w.open, ended.ChildRunId)
		delete(w.childSeqs, ended.ChildRunId)
	}
}

// lost waits before the next attempt, or ends the watch if that cannot help.
func (w *Watch) lost(failed *Error) {
	w.Close()
	w.ended = false
	if w.ctx.Err() != nil || !failed.mayFollowOn() {
		w.err = failed
		return
	}
	// A stream that lived this long worked; its failure is a new outage, or the renewal of an idle stream.
	lasted := !w.openedAt.IsZero() && time.Since(w.openedAt) >= 5*time.Second
	w.openedAt = time.Time{}
	if w.lostAt.IsZero() || lasted {
		w.lostAt, w.tries = time.Now(), 0
	}
	if lasted && failed.Reason == "TIMED_OUT" {
		return
	}
	w.tries++
	left := w.client.options.Patience - time.Since(w.lostAt)
	pause := delay(w.tries, 20*time.Millisecond, 500*time.Millisecond, failed.RetryAfter)
	if pause > left {
		pause = left
	}
	if left <= 0 || !w.client.sleep(w.ctx, pause) {
		w.err = failed
	}
}

func broken(reason, message string) *Error {
	return &Error{Code: codes.Unavailable, Reason: reason, Message: message}
}
