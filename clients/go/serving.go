package aeond

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	pb "aeond.internal/client/aeondpb"
)

// ServeOptions of Client.ServeTools; zero values mean the defaults.
type ServeOptions struct {
	// The name of the program for people. Default: its process name.
	Source string
	// Calls at a time; more wait for one that ends. Default: 32, which is as many as the daemon sends.
	MaxCalls int
	// Called with the names of the tools whenever the daemon has registered them: at first, and after an outage.
	Accepted func(names []string)
}

const (
	// How long the goodbye waits for the daemon.
	goodbyeTime = 5 * time.Second
	// The number of results that are kept for a daemon that may lack them.
	keptResults = 64
	// As much as the daemon accepts; a message that is far larger would end the stream.
	maxDataBytes = 1 << 20
)

// ServeTools offers tools to the runs of this user until ctx ends; then it withdraws them and returns nil. A daemon that
// went away is waited for, for Options.Patience: the tools are offered again, calls in progress go on under their id, and
// their results are delivered. The *Error of a rejected offer has the reason TOOL_EXISTS or names the invalid Field.
func (c *Client) ServeTools(ctx context.Context, tools []Tool, options ServeOptions) error {
	connection, err := dial(c.socket)
	if err != nil {
		return errorOf(err, nil)
	}
	defer connection.Close()
	server := &toolServer{
		stub: pb.NewToolServiceClient(connection), options: options, tools: map[string]Tool{},
		slots: make(chan struct{}, orDefault(options.MaxCalls, 32)), running: map[string]*runningCall{},
	}
	offer := &pb.ToolOffer{Source: options.Source}
	for _, tool := range tools {
		spec, err := specOf(tool)
		if err != nil {
			return err
		}
		offer.Tools = append(offer.Tools, spec)
		server.tools[spec.Name] = tool
	}
	server.offer = &pb.ServeToolsRequest{Message: &pb.ServeToolsRequest_Offer{Offer: offer}}
	defer server.cancelAll()
	return server.serve(ctx, c.options.Patience)
}

type runningCall struct {
	id     string
	cancel context.CancelFunc
}

type toolServer struct {
	stub    pb.ToolServiceClient
	options ServeOptions
	tools   map[string]Tool
	offer   *pb.ServeToolsRequest
	slots   chan struct{}

	mutex    sync.Mutex // of the fields below, and of sending
	stream   pb.ToolService_ServeToolsClient
	running  map[string]*runningCall
	results  []*pb.ServeToolsRequest
	accepted bool
	lostAt   time.Time
}

func (s *toolServer) serve(ctx context.Context, patience time.Duration) error {
	for try := 1; ctx.Err() == nil; try++ {
		failed := s.exchange(ctx)
		if ctx.Err() != nil {
			break
		}
		// Until the daemon notices that the stream was lost, its tools are taken.
		if !s.accepted || !(failed.mayFollowOn() || failed.Reason == "TOOL_EXISTS") {
			return failed
		}
		if s.lostAt.IsZero() {
			s.lostAt, try = time.Now(), 1
		}
		if time.Since(s.lostAt) >= patience {
			return failed
		}
		sleep(ctx, delay(try, 50*time.Millisecond, time.Second, failed.RetryAfter))
	}
	return nil
}

// exchange serves one stream until it ends; after the end of ctx it says goodbye.
func (s *toolServer) exchange(ctx context.Context) *Error {
	streamContext, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := s.stub.ServeTools(streamContext)
	if err != nil {
		return errorOf(err, nil)
	}
	s.mutex.Lock()
	s.stream = stream
	_ = stream.Send(s.offer) // a failure is also that of Recv
	s.mutex.Unlock()
	received := make(chan struct{})
	defer close(received)
	go func() {
		select {
		case <-received:
		case <-ctx.Done():
			time.AfterFunc(goodbyeTime, cancel)
			s.mutex.Lock()
			defer s.mutex.Unlock()
			// An empty offer: the daemon need not wait for this client.
			_ = stream.Send(&pb.ServeToolsRequest{Message: &pb.ServeToolsRequest_Offer{Offer: &pb.ToolOffer{}}})
			_ = stream.CloseSend()
		}
	}()
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return broken("STREAM_ENDED", "the daemon ended the stream")
		} else if err != nil {
			return errorOf(err, stream.Trailer())
		}
		s.obey(response)
	}
}

func (s *toolServer) obey(response *pb.ServeToolsResponse) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch message := response.Message.(type) {
	case *pb.ServeToolsResponse_Accepted:
		s.lostAt = time.Time{}
		for _, result := range s.results { // the daemon may lack them, and ignores those that it has
			_ = s.stream.Send(result)
		}
		s.accepted = true
		if names := message.Accepted.Names; s.options.Accepted != nil && len(names) > 0 {
			s.options.Accepted(names)
		}
	case *pb.ServeToolsResponse_Started:
		id := message.Started.Call.CallId
		if s.running[id] != nil {
			return // a repeat of a call whose result will come
		}
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), callKey{}, message.Started))
		call := &runningCall{id, cancel}
		s.running[id] = call
		go s.carryOut(ctx, call, message.Started)
	case *pb.ServeToolsResponse_Cancelled:
		if call := s.running[message.Cancelled.CallId]; call != nil {
			call.cancel()
			delete(s.running, call.id) // a repeat with the same id is another call
		}
	}
}

func (s *toolServer) carryOut(ctx context.Context, call *runningCall, started *pb.ToolCallStarted) {
	defer call.cancel()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return
	}
	ended := &pb.ToolCallEnded{CallId: call.id, Result: resultOf(ctx, s.tools[started.Call.Tool], started)}
	message := &pb.ServeToolsRequest{Message: &pb.ServeToolsRequest_Ended{Ended: ended}}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.running[call.id] != call {
		return // cancelled
	}
	delete(s.running, call.id)
	if s.results = append(s.results, message); len(s.results) > keptResults {
		s.results = s.results[1:]
	}
	_ = s.stream.Send(message) // after a failure it is sent over the next stream
}

func (s *toolServer) cancelAll() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, call := range s.running {
		call.cancel()
	}
}

// resultOf executes a call. A panic of the tool is a failed call.
func resultOf(ctx context.Context, tool Tool, started *pb.ToolCallStarted) (result *pb.ToolResult) {
	failed := func(reason string, what any) *pb.ToolResult {
		text := []rune(fmt.Sprint(what))
		if len(text) > 2000 {
			text = text[:2000]
		}
		return &pb.ToolResult{Error: string(text), Reason: reason}
	}
	defer func() {
		if problem := recover(); problem != nil {
			result = failed("TOOL_RAISED", problem)
		}
	}()
	params := map[string]any{}
	if text := started.Call.ArgumentsJson; text != "" {
		if err := json.Unmarshal([]byte(text), &params); err != nil {
			return failed("ARGUMENTS_INVALID", err)
		}
	}
	returned, err := tool.Execute(ctx, params)
	if err != nil {
		return failed("TOOL_RAISED", err)
	}
	if returned == nil {
		returned = &ToolResult{Success: true}
	}
	if !returned.Success {
		return failed(orDefault(returned.Reason, "TOOL_FAILED"), returned.Error)
	}
	data, err := json.Marshal(returned.Data)
	if err != nil {
		return failed("TOOL_RAISED", err)
	}
	if len(data) > maxDataBytes {
		return failed("OUTPUT_TOO_LARGE", fmt.Sprintf("the result has more than %d bytes of JSON", maxDataBytes))
	}
	return &pb.ToolResult{Success: true, DataJson: string(data)}
}

type callKey struct{}

// CallID returns the id of the call that a tool of ServeTools executes: the same if the daemon repeats the call.
func CallID(ctx context.Context) string {
	started, _ := ctx.Value(callKey{}).(*pb.ToolCallStarted)
	return started.GetCall().GetCallId()
}

// invalidTool is the error for a tool that cannot be described.
func invalidTool(name, field string, what any) *Error {
	return &Error{
		Code: codes.InvalidArgument, Reason: "UNKNOWN_VALUE", Field: field,
		Message: fmt.Sprintf("tool %s: %v", name, what),
	}
}
