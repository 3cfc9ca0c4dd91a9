// Sends a request to aeond, prints the steps as they end, and the answer.
import { Client } from "aeond-client";

const client = await Client.open();
for await (const event of client.ask(process.argv[2] ?? "What is 17.5% of 2400?")) {
  if (event.stepEnded) console.error(event.stepEnded.stepId, "has ended");
  if (event.answerComposed) console.log(event.answerComposed.answer?.text);
}
client.close();
