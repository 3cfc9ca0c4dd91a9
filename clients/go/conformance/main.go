// Command conformance is the program that the conformance suite runs; docs/clients.md has its results.
//
//	conformance ask REQUEST_JSON | watch RUN_ID AFTER_SEQ | answer RUN_ID ANSWER_JSON | cancel RUN_ID REASON |
//	serve [SECONDS] | serve-types | close RUN_ID | closed RUN_ID | agent TEXT
//
// It prints each event, or the error, as a line of JSON; of the agent, its reply.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"

	"google.golang.org/protobuf/encoding/protojson"

	"aeond.internal/client"
)

func main() {
	err := run(context.Background(), os.Args[1], os.Args[2:])
	var failed *aeond.Error
	if errors.As(err, &failed) {
		line, _ := json.Marshal(map[string]string{"reason": failed.Reason, "field": failed.Field})
		fmt.Printf("{\"error\":%s}\n", line)
		os.Exit(1)
	} else if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, command string, words []string) error {
	client, err := aeond.Open(aeond.Options{})
	if err != nil {
		return err
	}
	defer client.Close()
	switch command {
	case "ask":
		var request aeond.CreateRunRequest
		if err := protojson.Unmarshal([]byte(words[0]), &request); err != nil {
			return err
		}
		run, err := client.Create(ctx, &request)
		if err != nil {
			return err
		}
		return printAll(client.Watch(ctx, run.RunId, 0), nil)
	case "watch":
		afterSeq, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			return err
		}
		return printAll(client.Watch(ctx, words[0], afterSeq), nil)
	case "close":
		return printAll(client.Watch(ctx, words[0], 0), client)
	case "closed":
		client.Close()
		_, err = client.Cancel(ctx, words[0], "")
	case "serve":
		return serve(client, words)
	case "serve-types":
		return serveTypes(client)
	case "agent":
		return reply(ctx, client.Agent(), words[0])
	case "answer":
		_, err = client.Answer(ctx, words[0], json.RawMessage(words[1]), "")
	case "cancel":
		_, err = client.Cancel(ctx, words[0], words[1])
	}
	return err
}

func reply(ctx context.Context, agent aeond.Agent, text string) error {
	message, err := agent.Process(ctx, &aeond.Message{Role: "user", Content: text})
	if err != nil {
		return err
	}
	line, err := json.Marshal(map[string]any{"role": message.Role, "content": message.Content, "run_id": message.Metadata["run_id"]})
	if err != nil {
		return err
	}
	fmt.Println(string(line))
	return nil
}

// printAll prints the events of a watch. A given client is closed while the watch waits for the answer to a question.
func printAll(watch *aeond.Watch, closing *aeond.Client) error {
	for watch.Next() {
		line, err := protojson.Marshal(watch.Event())
		if err != nil {
			return err
		}
		fmt.Println(string(line))
		if closing != nil && watch.Event().GetInputRequested() != nil {
			go closing.Close()
		}
	}
	return watch.Err()
}
