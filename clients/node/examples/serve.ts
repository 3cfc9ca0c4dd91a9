// Offers a function to the runs of its user until Ctrl-C: `aeonctl call greet name=Ann`.
import { Client } from "aeond-client";

const client = await Client.open();
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
const greet = {
  name: "greet",
  description: "Greets a person by name.",
  effect: "read" as const,
  input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  execute: ({ name }: { name: string }) => `Hello, ${name}!`,
};
await client.serveTools([greet], { signal: stop.signal });
client.close();
