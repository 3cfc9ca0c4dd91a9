// Command ask sends a request to aeond, prints the steps as they end, and the answer.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"aeond.internal/client"
)

func main() {
	client, err := aeond.Open(aeond.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	watch, err := client.Ask(context.Background(), strings.Join(os.Args[1:], " "))
	if err != nil {
		log.Fatal(err)
	}
	for watch.Next() {
		if step := watch.Event().GetStepEnded(); step != nil {
			fmt.Fprintln(os.Stderr, step.StepId, "has ended")
		}
		if answer := watch.Event().GetAnswerComposed(); answer != nil {
			fmt.Println(answer.Answer.Text)
		}
	}
	if err := watch.Err(); err != nil {
		log.Fatal(err)
	}
}
