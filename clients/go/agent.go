package aeond

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
)

// Message is what agents exchange. Content is any value that encoding/json can write.
type Message struct {
	Role      string // user, agent, system or tool
	Content   any
	Metadata  map[string]any
	Timestamp time.Time
}

// Agent turns a message into a message.
type Agent interface {
	Name() string
	Process(ctx context.Context, message *Message) (*Message, error)
	// What the agent can do, for people and for the choice of an agent; may be empty.
	Capabilities() []string
}

// Tool is a function that agents can call. A failure of the work is a ToolResult without success; the error is for a
// call that could not be made. ServeTools offers tools to the daemon; one that is also Specified has a schema and an effect.
type Tool interface {
	Name() string
	Description() string
	Execute(ctx context.Context, params map[string]any) (*ToolResult, error)
}

// ToolResult is the outcome of a tool.
type ToolResult struct {
	Success bool
	Data    any
	Error   string
	// The cause of a failure for programs, an UPPER_SNAKE word. Empty: TOOL_FAILED.
	Reason   string
	Metadata map[string]any
}

// Agent returns the daemon as an agent: a message is a request, and the answer of its run is the reply.
func (c *Client) Agent() Agent { return daemonAgent{c} }

type daemonAgent struct{ client *Client }

func (daemonAgent) Name() string           { return "aeond" }
func (daemonAgent) Capabilities() []string { return []string{"plan", "tools", "memory"} }

// Process returns the answer; its metadata has the run_id. A run without an answer is an *Error (NO_ANSWER); so is one
// that asks a question, which Client.Answer answers, and one that needs an approval.
func (a daemonAgent) Process(ctx context.Context, message *Message) (*Message, error) {
	watch, err := a.client.Ask(ctx, fmt.Sprint(message.Content))
	if err != nil {
		return nil, err
	}
	defer watch.Close()
	var reply *Message
	for watch.Next() {
		event := watch.Event()
		if event.GetInputRequested() != nil || event.GetApprovalRequested() != nil || event.GetRunSuspended() != nil {
			break
		}
		if composed := event.GetAnswerComposed(); composed != nil {
			reply = &Message{
				Role: "agent", Content: composed.Answer.Text, Timestamp: event.Time.AsTime(),
				Metadata: map[string]any{"run_id": watch.RunID(), "confidence": composed.Answer.Confidence},
			}
		}
	}
	if reply == nil && watch.Err() == nil {
		return nil, &Error{
			Code: codes.FailedPrecondition, Reason: "NO_ANSWER",
			Message: fmt.Sprintf("run %s has no answer: see its state", watch.RunID()),
		}
	}
	return reply, watch.Err()
}
