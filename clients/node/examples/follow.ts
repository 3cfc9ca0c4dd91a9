// Follows a run from an event on, and answers its questions, or cancels it: follow RUN_ID AFTER_SEQ [ANSWER]
import { Client } from "aeond-client";

const [run = "", after, answer] = process.argv.slice(2);
const client = await Client.open();
for await (const event of client.watch(run, Number(after))) {
  if (event.seq) console.log(event.seq); // keep it: a later watch resumes from it
  if (event.inputRequested && answer) await client.answer(run, answer);
  else if (event.inputRequested) await client.cancel(run, "no answer");
}
client.close();
