// The tools that the conformance suite calls.
import { createInterface } from "node:readline";
import { type Client, type Tool, type ToolContext, ToolFailure } from "aeond-client";

/** By call id, what ends a call of suite_hold. */
const held = new Map<string, () => void>();

const tools = (limitSeconds: number): Tool[] => [
  {
    name: "suite_echo",
    description: "Of the suite.",
    effect: "read",
    input: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
      additionalProperties: false,
    },
    execute: ({ text }: { text: string }) => ({ text }),
  },
  {
    name: "suite_refuse",
    description: "Of the suite.",
    effect: "read",
    execute: () => {
      throw new ToolFailure("no such page", "PAGE_UNKNOWN");
    },
  },
  {
    name: "suite_break",
    description: "Of the suite.",
    effect: "read",
    execute: () => Promise.reject(new Error("broken")),
  },
  { name: "suite_flood", description: "Of the suite.", effect: "read", execute: () => "x".repeat(20 << 20) },
  {
    name: "suite_hold",
    description: "Of the suite.",
    effect: "write_outside",
    timeoutMs: limitSeconds * 1_000,
    execute: hold,
  },
];

function line(record: object): void {
  process.stdout.write(`${JSON.stringify(record)}\n`);
}

async function hold(_params: object, { callId, signal }: ToolContext): Promise<unknown> {
  const released = new Promise<void>((resolve) => {
    held.set(callId, resolve);
    line({ began: callId, running: held.size });
    signal.addEventListener("abort", () => {
      line({ cancelled: callId });
      resolve();
    });
  });
  await released;
  held.delete(callId);
  return { held: callId };
}

/**
 * Offers the tools of the suite until SIGINT; each line on standard input ends the calls that are held, and the daemon does so
 * after the time limit. 0: its own one.
 */
export async function serve(client: Client, limitSeconds: number): Promise<void> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  const lines = createInterface({ input: process.stdin });
  lines.on("line", () => {
    for (const release of held.values()) release();
  });
  let first = true;
  const accepted = (names: string[]) => {
    if (first) line({ serving: names });
    first = false;
  };
  await client.serveTools(tools(limitSeconds), { signal: stop.signal, source: "suite", maxCalls: 2, accepted });
  lines.close();
}
