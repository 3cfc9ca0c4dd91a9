// Command serve offers a function to the runs of its user until Ctrl-C: `aeonctl call greet name=Ann`.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"

	"aeond.internal/client"
)

func main() {
	client, err := aeond.Open(aeond.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	name := map[string]any{"name": map[string]any{"type": "string"}}
	greet := aeond.NewTool(aeond.Spec{
		Name: "greet", Description: "Greets a person by name.", Effect: "read",
		Schema: map[string]any{"type": "object", "properties": name, "required": []string{"name"}},
	}, func(ctx context.Context, params map[string]any) (any, error) {
		return "Hello, " + params["name"].(string) + "!", nil
	})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := client.ServeTools(ctx, []aeond.Tool{greet}, aeond.ServeOptions{}); err != nil {
		log.Fatal(err)
	}
}
