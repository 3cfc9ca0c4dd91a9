package aeond

import (
	"context"
	"fmt"
	"time"
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
// call that could not be made. ServeTools offers tools to the daemon; one that is not also Specified has no arguments there, and a
// person is asked about its calls.
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
// that waits for a person, as of Client.Run.
func (a daemonAgent) Process(ctx context.Context, message *Message) (*Message, error) {
	watch, err := a.client.askAll(ctx, fmt.Sprint(message.Content))
	if err != nil {
		return nil, err
	}
	event, err := watch.answer()
	if err != nil {
		return nil, err
	}
	answer := event.GetAnswerComposed().GetAnswer()
	return &Message{
		Role: "agent", Content: answer.GetText(), Timestamp: event.Time.AsTime(),
		Metadata: map[string]any{"run_id": watch.RunID(), "confidence": answer.GetConfidence()},
	}, nil
}
