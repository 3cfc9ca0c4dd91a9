// Package aeond is the Go client of aeond: it creates runs, follows their events, answers their questions and
// cancels them.
//
//	client, err := aeond.Open(aeond.Options{})
//	answer, err := client.Run(ctx, "What is 17.5% of 2400?")
//	fmt.Println(answer.Text)
//
// Every wait has a deadline and every retry a limit. Failed calls return *Error.
package aeond

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pb "aeond.internal/client/aeondpb"
)

// Messages of the contract that every program needs; package aeondpb has all of them.
type (
	Answer           = pb.Answer
	CreateRunRequest = pb.CreateRunRequest
	Event            = pb.Event
	Run              = pb.Run
)

// Options of a connection; zero values mean the defaults.
type Options struct {
	// Path of the socket. Default: $AEOND_SOCKET, else the socket of the user's daemon, else that of the system's.
	Socket string
	// Deadline of each attempt of a call. Default: 30 s.
	CallTimeout time.Duration
	// Attempts of a call that is safe to repeat. Default: 6.
	Attempts int
	// How long a watch waits for a daemon that has gone away before it ends with the error. Default: 60 s.
	Patience time.Duration
	// A stream is renewed after this time, so that a daemon that hangs is noticed. Default: 600 s.
	StreamTimeout time.Duration
}

// Client is a connection to the daemon. It can be used from several goroutines.
type Client struct {
	options     Options
	socket      string
	connections []*grpc.ClientConn
	// A stream that is not read must not delay a call, so the two have connections of their own.
	calls, streams pb.RunServiceClient
	// Done once the client was closed.
	open  context.Context
	close context.CancelFunc
}

// Open returns a connection to the first socket on which a daemon is listening, or an *Error with reason NO_DAEMON.
func Open(options Options) (*Client, error) {
	options.CallTimeout = orDefault(options.CallTimeout, 30*time.Second)
	options.Attempts = orDefault(options.Attempts, 6)
	options.Patience = orDefault(options.Patience, 60*time.Second)
	options.StreamTimeout = orDefault(options.StreamTimeout, 600*time.Second)
	socket, err := findSocket(options.Socket)
	if err != nil {
		return nil, err
	}
	client := &Client{options: options, socket: socket}
	client.open, client.close = context.WithCancel(context.Background())
	for _, stub := range []*pb.RunServiceClient{&client.calls, &client.streams} {
		connection, err := dial(socket)
		if err != nil {
			client.Close()
			return nil, errorOf(err, nil)
		}
		client.connections = append(client.connections, connection)
		*stub = pb.NewRunServiceClient(connection)
	}
	return client, nil
}

// Close ends the connection and every watch, with the reason CLIENT_CLOSED, which later calls have, too; runs continue.
func (c *Client) Close() {
	c.close()
	for _, connection := range c.connections {
		connection.Close()
	}
}

// Run creates a run, waits for its end and returns its answer. A run that ends without one is an *Error (NO_ANSWER) at once; so
// is one that waits for a person, also if a run that it started does: it asks a question, which Answer answers, needs an
// approval, or is suspended. The message names the run that waits.
func (c *Client) Run(ctx context.Context, text string) (*Answer, error) {
	watch, err := c.askAll(ctx, text)
	if err != nil {
		return nil, err
	}
	answered, err := watch.answer()
	return answered.GetAnswerComposed().GetAnswer(), err
}

// Ask creates a run and follows it from its first event.
func (c *Client) Ask(ctx context.Context, text string) (*Watch, error) {
	run, err := c.Create(ctx, &CreateRunRequest{Request: &pb.RunRequest{Text: text}})
	if err != nil {
		return nil, err
	}
	return c.Watch(ctx, run.RunId, 0), nil
}

// askAll creates a run and follows it, and all runs below, from its first event.
func (c *Client) askAll(ctx context.Context, text string) (*Watch, error) {
	watch, err := c.Ask(ctx, text)
	if err == nil {
		watch.children, watch.childSeqs, watch.open = true, map[string]int64{}, map[string]bool{}
	}
	return watch, err
}

// Watch follows a run after an event; 0: from the first one. The end of ctx ends the watch; the run continues.
func (c *Client) Watch(ctx context.Context, runID string, afterSeq int64) *Watch {
	return &Watch{client: c, ctx: ctx, runID: runID, firstSeq: afterSeq, lastSeq: afterSeq}
}

// Create returns once the run is on disk. Without a request id it gets a random one, so that a repeat is safe.
func (c *Client) Create(ctx context.Context, request *CreateRunRequest) (*Run, error) {
	if request.GetRequest().GetRequestId() == "" {
		request = proto.Clone(request).(*CreateRunRequest)
		if request.Request == nil {
			request.Request = &pb.RunRequest{}
		}
		request.Request.RequestId = randomID()
	}
	return call(ctx, c, true, c.calls.CreateRun, request)
}

// Get returns the state of a run.
func (c *Client) Get(ctx context.Context, runID string) (*Run, error) {
	return call(ctx, c, true, c.calls.GetRun, &pb.GetRunRequest{RunId: runID})
}

// Answer answers a question with a value that encoding/json can write; an empty questionID means the only open one.
func (c *Client) Answer(ctx context.Context, runID string, answer any, questionID string) (*Run, error) {
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	request := &pb.AnswerRunRequest{RunId: runID, QuestionId: questionID, AnswerJson: string(text)}
	return call(ctx, c, false, c.calls.AnswerRun, request)
}

// Cancel requests the cancellation of a run; a run that has ended stays unchanged.
func (c *Client) Cancel(ctx context.Context, runID, reason string) (*Run, error) {
	return call(ctx, c, true, c.calls.CancelRun, &pb.CancelRunRequest{RunId: runID, Reason: reason})
}

// call makes a call and repeats it while that is safe and may help.
func call[Request any, Response interface{ GetRun() *Run }](
	ctx context.Context, c *Client, repeatable bool,
	method func(context.Context, Request, ...grpc.CallOption) (Response, error), request Request,
) (*Run, error) {
	for attempt := 1; ; attempt++ {
		var trailer metadata.MD
		limited, cancel := context.WithTimeout(ctx, c.options.CallTimeout)
		response, err := method(limited, request, grpc.Trailer(&trailer))
		cancel()
		if err == nil {
			return response.GetRun(), nil
		}
		failed := c.errorOf(err, trailer)
		if attempt >= c.options.Attempts || !failed.mayRepeat(repeatable) ||
			!c.sleep(ctx, delay(attempt, 50*time.Millisecond, 2*time.Second, failed.RetryAfter)) {
			return nil, failed
		}
	}
}

// errorOf returns the error of a call; CLIENT_CLOSED if that has ended because the client was closed.
func (c *Client) errorOf(err error, trailer metadata.MD) *Error {
	failed := errorOf(err, trailer)
	if failed.Reason == "CONNECTION_LOST" && c.open.Err() != nil {
		return &Error{Code: codes.Canceled, Reason: "CLIENT_CLOSED", Message: "the client was closed"}
	}
	return failed
}

// sleep waits and reports whether ctx allows to go on. It ends early if the client is closed, which the next attempt
// reports.
func (c *Client) sleep(ctx context.Context, pause time.Duration) bool {
	limited, cancel := context.WithTimeout(c.open, pause)
	defer cancel()
	select {
	case <-limited.Done():
		return true
	case <-ctx.Done():
		return false
	}
}

func dial(socket string) (*grpc.ClientConn, error) {
	reconnect := backoff.DefaultConfig
	// A local daemon restarts within a second; gRPC would wait up to two minutes.
	reconnect.BaseDelay, reconnect.MaxDelay = 100*time.Millisecond, time.Second
	return grpc.Dial("passthrough:///localhost",
		grpc.WithInsecure(), // a Unix socket: the daemon checks the user by the kernel's credentials
		grpc.WithAuthority("localhost"),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: 5 * time.Second}),
		// A run with all its outputs; an event is far smaller.
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
}

func randomID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/uuid")
	return strings.TrimSpace(string(id))
}

func orDefault[T comparable](given, otherwise T) T {
	var zero T
	if given == zero {
		return otherwise
	}
	return given
}
