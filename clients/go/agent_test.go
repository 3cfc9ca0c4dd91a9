package aeond_test

import (
	"context"
	"testing"

	"aeond.internal/client"
)

// upper is a tool of a program.
type upper struct{}

func (upper) Name() string        { return "upper" }
func (upper) Description() string { return "Reports whether a text is empty." }

func (upper) Execute(_ context.Context, params map[string]any) (*aeond.ToolResult, error) {
	text, _ := params["text"].(string)
	if text == "" {
		return &aeond.ToolResult{Error: "text is empty"}, nil
	}
	return &aeond.ToolResult{Success: true, Data: len(text)}, nil
}

// counting is an agent that uses a tool of its own process.
type counting struct{ tool aeond.Tool }

func (counting) Name() string           { return "counting" }
func (counting) Capabilities() []string { return nil }

func (c counting) Process(ctx context.Context, message *aeond.Message) (*aeond.Message, error) {
	result, err := c.tool.Execute(ctx, map[string]any{"text": message.Content})
	if err != nil {
		return nil, err
	}
	return &aeond.Message{Role: "agent", Content: result}, nil
}

// A failure of a tool is data, and a program can combine its own agents and tools with the daemon's.
func TestAgentsAndToolsOfAProgram(t *testing.T) {
	agents := []aeond.Agent{counting{upper{}}, (&aeond.Client{}).Agent()}
	if agents[1].Name() != "aeond" {
		t.Fatal(agents[1].Name())
	}
	for content, success := range map[string]bool{"": false, "Grüße": true} {
		reply, err := agents[0].Process(context.Background(), &aeond.Message{Role: "user", Content: content})
		if err != nil || reply.Content.(*aeond.ToolResult).Success != success {
			t.Fatal(reply, err)
		}
	}
}
