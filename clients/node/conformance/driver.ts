// The program that the conformance suite runs; docs/clients.md has its results.
//
//     driver.js ask REQUEST_JSON | watch RUN_ID AFTER_SEQ | answer RUN_ID ANSWER_JSON | cancel RUN_ID REASON
//     driver.js close RUN_ID | closed RUN_ID | serve [SECONDS]
//
// Prints each event, or the error, as a line of JSON.
import { AeondError, Client, type Event } from "aeond-client";
import { serve } from "./tools.js";

const [command, ...words] = process.argv.slice(2) as [string, ...string[]];

/** Undoes the differences between proto-loader's objects and protobuf's JSON: times, and names of optional fields. */
function standard(key: string, value: unknown): unknown {
  if (key.startsWith("_")) return undefined;
  if (value === null || typeof value !== "object" || !("nanos" in value && "seconds" in value)) return value;
  return new Date(Number(value.seconds) * 1_000 + Number(value.nanos) / 1e6).toISOString();
}

/** Waits while the reader of the output does. */
export function print(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line, standard)}\n`);
}

/** A given client is closed while the watch waits for the answer to a question. */
async function printAll(events: AsyncIterable<Event>, closing?: Client): Promise<void> {
  for await (const event of events) {
    print({ ...event, kind: undefined });
    if (event.inputRequested) setImmediate(() => closing?.close());
  }
}

try {
  const client = await Client.open();
  if (command === "ask") await printAll(client.ask(JSON.parse(words[0]!)));
  else if (command === "watch") await printAll(client.watch(words[0]!, Number(words[1])));
  else if (command === "close") await printAll(client.watch(words[0]!), client);
  else if (command === "closed") (client.close(), await client.cancel(words[0]!));
  else if (command === "answer") await client.answer(words[0]!, JSON.parse(words[1]!));
  else if (command === "cancel") await client.cancel(words[0]!, words[1]!);
  else if (command === "serve") await serve(client, Number(words[0] ?? 0));
  client.close();
} catch (error) {
  if (!(error instanceof AeondError)) throw error;
  print({ error: { reason: error.reason, field: error.field } });
  process.exitCode = 1;
}
