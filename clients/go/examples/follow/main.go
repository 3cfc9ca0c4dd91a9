// Command follow follows a run from an event on, and answers its questions, or cancels it: follow RUN_ID AFTER_SEQ [ANSWER]
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"

	"aeond.internal/client"
)

func main() {
	client, err := aeond.Open(aeond.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx, run, answers := context.Background(), os.Args[1], os.Args[3:]
	after, _ := strconv.ParseInt(os.Args[2], 10, 64)
	watch := client.Watch(ctx, run, after)
	for watch.Next() {
		event := watch.Event()
		if event.Seq > 0 {
			fmt.Println(event.Seq) // keep it: a later watch resumes from it
		}
		if event.GetInputRequested() != nil && len(answers) > 0 {
			_, err = client.Answer(ctx, run, answers[0], "")
		} else if event.GetInputRequested() != nil {
			_, err = client.Cancel(ctx, run, "no answer")
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	if err := watch.Err(); err != nil {
		log.Fatal(err)
	}
}
