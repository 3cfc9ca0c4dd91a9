// Command ask sends a request to aeond and prints the answer.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"aeond.internal/client"
)

func main() {
	client, err := aeond.Open(aeond.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	watch, err := client.Ask(context.Background(), os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for watch.Next() {
		if answer := watch.Event().GetAnswerComposed(); answer != nil {
			fmt.Println(answer.Answer.Text)
		}
	}
	if err := watch.Err(); err != nil {
		log.Fatal(err)
	}
}
