package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"aeond.internal/client"
)

// shelf is a Tool with nothing but what the interface asks for: no arguments, and no declared effect.
type shelf struct{}

func (shelf) Name() string        { return "go_shelf" }
func (shelf) Description() string { return "Lists the books." }

func (shelf) Execute(ctx context.Context, params map[string]any) (*aeond.ToolResult, error) {
	data := map[string]any{"books": []string{"Emma"}, "call": aeond.CallID(ctx), "arguments": len(params)}
	return &aeond.ToolResult{Success: true, Data: data}, nil
}

// catalogue is a Tool with a schema and an effect.
type catalogue struct{}

func (catalogue) Name() string        { return "go_catalogue" }
func (catalogue) Description() string { return "Returns a book by its title." }

func (c catalogue) Spec() aeond.Spec {
	title := map[string]any{"title": map[string]any{"type": "string"}}
	return aeond.Spec{
		Name: c.Name(), Description: c.Description(), Effect: "read",
		Schema: map[string]any{"type": "object", "properties": title},
	}
}

func (catalogue) Execute(ctx context.Context, params map[string]any) (*aeond.ToolResult, error) {
	title, given := params["title"].(string)
	if !given {
		return nil, errors.New("a title is missing")
	}
	if title == "lent" {
		return &aeond.ToolResult{Error: "the book is lent", Reason: "BOOK_LENT"}, nil
	}
	return &aeond.ToolResult{Success: true, Data: map[string]any{"book": title, "call": aeond.CallID(ctx)}}, nil
}

// scribe is an Agent: it notes a message, refuses one, or works until the reply is no longer needed.
type scribe struct{}

func (scribe) Name() string           { return "go_scribe" }
func (scribe) Capabilities() []string { return []string{"notes"} }

func (scribe) Process(ctx context.Context, message *aeond.Message) (*aeond.Message, error) {
	switch message.Content {
	case "refuse":
		return nil, errors.New("no ink")
	case "wait":
		id := aeond.CallID(ctx)
		printLine(map[string]any{"began": id})
		<-ctx.Done()
		printLine(map[string]any{"cancelled": id, "cause": ctx.Err().Error()})
		return nil, ctx.Err()
	}
	noted := fmt.Sprintf("%s said: %v", message.Role, message.Content)
	return &aeond.Message{Role: "agent", Content: map[string]any{"noted": noted}}, nil
}

// serveTypes offers types of this program until SIGINT: Tools by hand, an Agent, and the daemon itself as an Agent.
func serveTypes(client *aeond.Client) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	tools := []aeond.Tool{
		shelf{}, catalogue{},
		aeond.AgentTool(scribe{}, "Notes a message.", "read"),
		aeond.AgentTool(client.Agent(), "Fulfils a request in a run of its own.", "read"),
	}
	return client.ServeTools(ctx, tools, aeond.ServeOptions{Accepted: func(names []string) {
		printLine(map[string]any{"serving": names})
	}})
}
