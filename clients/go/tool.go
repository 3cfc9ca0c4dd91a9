package aeond

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	pb "aeond.internal/client/aeondpb"
)

// Spec describes a tool for the daemon. Name, Description and, for a daemon that is to check the arguments, Schema are what
// models choose and call it by.
type Spec struct {
	Name        string
	Description string
	// JSON Schema of the arguments, as encoding/json writes it. nil: no arguments. The daemon accepts no argument without a schema.
	Schema any
	// A class of the policy: pure, read, write_contained, write_outside, exec_contained, exec_host, net, secret or memory.
	// Empty: undeclared, about which a person is asked.
	Effect string
	// Whether two equal calls have the effect of one.
	Idempotent bool
	// The time limit of a call. 0: the daemon's default.
	Timeout time.Duration
}

// Specified is what a Tool can have beside its name and description.
type Specified interface {
	Spec() Spec
}

// NewTool makes a Tool of a function. What it returns is the data of the result, or a *ToolResult; an error fails the call
// with the reason TOOL_RAISED.
func NewTool(spec Spec, call func(ctx context.Context, params map[string]any) (any, error)) Tool {
	return functionTool{spec, call}
}

// AgentTool makes a Tool of an Agent: its argument is a message, and its result the content of the reply.
func AgentTool(agent Agent, description, effect string) Tool {
	schema := map[string]any{
		"type": "object", "required": []string{"message"}, "additionalProperties": false,
		"properties": map[string]any{"message": map[string]any{"type": "string"}},
	}
	spec := Spec{Name: agent.Name(), Description: description, Schema: schema, Effect: effect}
	return NewTool(spec, func(ctx context.Context, params map[string]any) (any, error) {
		message := &Message{Role: "user", Content: params["message"], Timestamp: time.Now()}
		reply, err := agent.Process(ctx, message)
		if err != nil {
			return nil, err
		}
		return reply.Content, nil
	})
}

type functionTool struct {
	spec Spec
	call func(ctx context.Context, params map[string]any) (any, error)
}

func (t functionTool) Name() string        { return t.spec.Name }
func (t functionTool) Description() string { return t.spec.Description }
func (t functionTool) Spec() Spec          { return t.spec }

func (t functionTool) Execute(ctx context.Context, params map[string]any) (*ToolResult, error) {
	data, err := t.call(ctx, params)
	if err != nil {
		return nil, err
	}
	if result, made := data.(*ToolResult); made {
		return result, nil
	}
	return &ToolResult{Success: true, Data: data}, nil
}

func specOf(tool Tool) (*pb.ToolSpec, error) {
	spec := Spec{Name: tool.Name(), Description: tool.Description()}
	if specified, has := tool.(Specified); has {
		spec = specified.Spec()
	}
	if spec.Schema == nil {
		spec.Schema = map[string]any{"type": "object", "properties": map[string]any{}, "additionalProperties": false}
	}
	schema, err := json.Marshal(spec.Schema)
	if err != nil {
		return nil, invalidTool(spec.Name, "input_schema_json", err)
	}
	effect, known := pb.Effect_value["EFFECT_"+strings.ToUpper(orDefault(spec.Effect, "undeclared"))]
	if !known {
		return nil, invalidTool(spec.Name, "effect", fmt.Sprintf("%q is not an effect class, such as read or net", spec.Effect))
	}
	return &pb.ToolSpec{
		Name: spec.Name, Description: spec.Description, InputSchemaJson: string(schema), OutputSchemaJson: "{}",
		Effect: pb.Effect(effect), Idempotent: spec.Idempotent, TimeoutSeconds: spec.Timeout.Seconds(),
	}, nil
}
