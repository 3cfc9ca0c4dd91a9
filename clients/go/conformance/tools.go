package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"time"

	"aeond.internal/client"
)

var (
	mutex sync.Mutex
	held  = map[chan struct{}]bool{}
)

func printLine(record map[string]any) {
	line, _ := json.Marshal(record)
	fmt.Println(string(line))
}

// serve offers the tools of the suite until SIGINT. A given word is the time limit of suite_hold in seconds.
func serve(client *aeond.Client, words []string) error {
	var limit time.Duration
	for _, word := range words {
		seconds, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return err
		}
		limit = time.Duration(seconds * float64(time.Second))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	go release()
	text := map[string]any{"text": map[string]any{"type": "string"}}
	schema := map[string]any{
		"type": "object", "properties": text, "required": []string{"text"}, "additionalProperties": false,
	}
	made := func(name, effect string, schema any, call func(context.Context, map[string]any) (any, error)) aeond.Tool {
		return aeond.NewTool(aeond.Spec{Name: name, Description: "Of the suite.", Effect: effect, Schema: schema}, call)
	}
	tools := []aeond.Tool{
		made("suite_echo", "read", schema, func(_ context.Context, params map[string]any) (any, error) {
			return map[string]any{"text": params["text"]}, nil
		}),
		made("suite_refuse", "read", nil, func(context.Context, map[string]any) (any, error) {
			return &aeond.ToolResult{Error: "no such page", Reason: "PAGE_UNKNOWN"}, nil
		}),
		made("suite_break", "read", nil, func(context.Context, map[string]any) (any, error) {
			return nil, errors.New("broken")
		}),
		made("suite_flood", "read", nil, func(context.Context, map[string]any) (any, error) {
			return strings.Repeat("x", 20<<20), nil
		}),
		aeond.NewTool(aeond.Spec{
			Name: "suite_hold", Description: "Of the suite.", Effect: "write_outside", Timeout: limit,
		}, hold),
	}
	first := true
	return client.ServeTools(ctx, tools, aeond.ServeOptions{Source: "suite", MaxCalls: 2, Accepted: func(names []string) {
		if first {
			printLine(map[string]any{"serving": names})
		}
		first = false
	}})
}

func hold(ctx context.Context, _ map[string]any) (any, error) {
	released, id := make(chan struct{}), aeond.CallID(ctx)
	mutex.Lock()
	held[released] = true
	printLine(map[string]any{"began": id, "running": len(held)})
	mutex.Unlock()
	select {
	case <-released:
	case <-ctx.Done():
		printLine(map[string]any{"cancelled": id})
	}
	mutex.Lock()
	delete(held, released)
	mutex.Unlock()
	return map[string]any{"held": id}, nil
}

func release() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		mutex.Lock()
		for released, waits := range held {
			if waits {
				close(released)
				held[released] = false
			}
		}
		mutex.Unlock()
	}
}
