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
	answer, err := client.Run(context.Background(), os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Text)
}
