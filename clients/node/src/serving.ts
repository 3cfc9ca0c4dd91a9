/** Serves tools of a program to the runs of its user. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ClientDuplexStream, type ServiceError, status } from "@grpc/grpc-js";
import { AeondError, delay, errorOf } from "./errors.js";
import type { ServeToolsRequest } from "./contract/aeond/api/v1/ServeToolsRequest.js";
import type { ServeToolsResponse__Output } from "./contract/aeond/api/v1/ServeToolsResponse.js";
import type { ToolCallStarted__Output } from "./contract/aeond/api/v1/ToolCallStarted.js";
import type { ToolResult } from "./contract/aeond/api/v1/ToolResult.js";
import type { ToolSpec } from "./contract/aeond/api/v1/ToolSpec.js";

export type Effect =
  | "pure"
  | "read"
  | "write_contained"
  | "write_outside"
  | "exec_contained"
  | "exec_host"
  | "net"
  | "secret"
  | "memory";

/** The call that a tool executes. */
export interface ToolContext {
  /** The same if the daemon repeats the call. */
  callId: string;
  /** Empty: called directly. */
  runId: string;
  stepId: string;
  /** The time in milliseconds that the daemon waits for the result. */
  timeoutMs: number;
  /** Aborted when the result is no longer needed. */
  signal: AbortSignal;
}

/** A function that models, plans and clients may call. */
export interface Tool {
  /** Lower-case letters, digits and underscores. */
  name: string;
  /** Its purpose, for models and people. */
  description: string;
  /** JSON Schema of the arguments object. Default: no arguments. */
  input?: object;
  /** JSON Schema of the result. Default: any JSON value. */
  output?: object;
  /** The effect of a call. Without it a call counts as one with the most severe effect. */
  effect?: Effect;
  /** Whether two equal calls have the effect of one. Default: unknown. */
  idempotent?: boolean;
  /** One valid arguments object. */
  example?: object;
  /** The time limit of one call in milliseconds. Default: the daemon's. */
  timeoutMs?: number;
  /** Returns a JSON value. What it throws is a failed call; a ToolFailure chooses the reason. */
  execute(params: any, context: ToolContext): unknown;
}

/** Thrown by a tool: a failed call with a reason of its own, a stable UPPER_SNAKE word. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";

  constructor(
    message: string,
    readonly reason: string,
  ) {
    super(message);
  }
}

export interface ServeOptions {
  /** Ends the service: the tools are withdrawn, and the promise is fulfilled. */
  signal?: AbortSignal;
  /** The name of the program for people. Default: its process name. */
  source?: string;
  /** Calls at a time; more wait for one that ends. Default: 32, which is as many as the daemon sends. */
  maxCalls?: number;
  /** Called with the names of the tools whenever the daemon has registered them: at first, and after an outage. */
  accepted?: (names: string[]) => void;
}

type Stream = ClientDuplexStream<ServeToolsRequest, ServeToolsResponse__Output>;

/** How long the goodbye waits for the daemon. */
const GOODBYE_MS = 5_000;
/** The number of results that are kept for a daemon that may lack them. */
const KEPT_RESULTS = 64;
const MAX_ERROR_CHARS = 2_000;
/** As much as the daemon accepts; a message that is far larger would end the stream. */
const MAX_DATA_BYTES = 1 << 20;

export class ToolServer {
  private readonly tools: Map<string, Tool>;
  private readonly offer: ServeToolsRequest;
  private readonly running = new Map<string, AbortController>();
  private readonly results: ServeToolsRequest[] = [];
  private readonly waiting: (() => void)[] = [];
  private free: number;
  private stream: Stream | undefined;
  private wasAccepted = false;
  private lostAt: number | undefined;

  constructor(
    private readonly open: () => Stream,
    tools: readonly Tool[],
    private readonly options: ServeOptions,
    private readonly patienceMs: number,
  ) {
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.offer = { offer: { source: options.source ?? "", tools: tools.map(specOf) } };
    this.free = options.maxCalls ?? 32;
  }

  /** Serves until the signal is aborted; throws the AeondError of a rejected offer, or of a daemon that stays away. */
  async serve(): Promise<void> {
    try {
      for (let tries = 1; !this.options.signal?.aborted; tries++) {
        const failed = await this.exchange();
        if (this.options.signal?.aborted) return;
        // Until the daemon notices that the stream was lost, its tools are taken.
        if (!this.wasAccepted || !(failed.mayFollowOn || failed.reason === "TOOL_EXISTS")) throw failed;
        if (this.lostAt === undefined) [this.lostAt, tries] = [Date.now(), 1];
        if (Date.now() - this.lostAt >= this.patienceMs) throw failed;
        await sleep(delay(tries, 50, 1_000, failed.retryAfterMs), undefined, { signal: this.options.signal }).catch(() => {});
      }
    } finally {
      for (const call of this.running.values()) call.abort();
    }
  }

  /** Serves one stream until it ends; on the signal it says goodbye. */
  private exchange(): Promise<AeondError> {
    const stream = this.open();
    this.stream = stream;
    let timer: NodeJS.Timeout | undefined;
    const goodbye = () => {
      timer = setTimeout(() => stream.cancel(), GOODBYE_MS);
      stream.write({ offer: {} }); // an empty offer: the daemon need not wait for this client
      stream.end();
    };
    this.options.signal?.addEventListener("abort", goodbye, { once: true });
    return new Promise<AeondError>((resolve) => {
      stream.on("data", (response: ServeToolsResponse__Output) => this.obey(response));
      stream.on("error", (error) => resolve(errorOf(error as ServiceError)));
      stream.on("end", () => resolve(new AeondError("The daemon ended the stream.", status.UNAVAILABLE, "STREAM_ENDED")));
      stream.write(this.offer);
    }).finally(() => {
      clearTimeout(timer);
      this.options.signal?.removeEventListener("abort", goodbye);
      this.stream = undefined;
    });
  }

  private obey(response: ServeToolsResponse__Output): void {
    if (response.accepted) {
      this.lostAt = undefined;
      this.wasAccepted = true;
      for (const result of this.results) this.stream?.write(result); // the daemon ignores those that it has
      if (response.accepted.names.length > 0) this.options.accepted?.(response.accepted.names);
    } else if (response.started?.call && !this.running.has(response.started.call.callId)) {
      void this.carryOut(response.started, response.started.call.callId); // else a repeat: its result will come
    } else if (response.cancelled) {
      const id = response.cancelled.callId;
      this.running.get(id)?.abort();
      this.running.delete(id); // a repeat with the same id is another call
    }
  }

  private async carryOut(started: ToolCallStarted__Output, callId: string): Promise<void> {
    const call = new AbortController();
    this.running.set(callId, call);
    await this.taken(call.signal);
    if (call.signal.aborted) return;
    try {
      const result = await resultOf(this.tools.get(started.call?.tool ?? ""), started, call.signal);
      if (this.running.get(callId) !== call) return; // cancelled
      this.running.delete(callId);
      const message = { ended: { callId, result } };
      this.results.push(message);
      if (this.results.length > KEPT_RESULTS) this.results.shift();
      this.stream?.write(message); // without a stream it is sent over the next one
    } finally {
      this.free++;
      for (const wake of this.waiting.splice(0)) wake();
    }
  }

  /** Takes one of the places for calls, in turn; without one if the call is cancelled while it waits. */
  private async taken(signal: AbortSignal): Promise<void> {
    while (this.free === 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    if (!signal.aborted) this.free--;
  }
}

function specOf(tool: Tool): ToolSpec {
  const { name, description, input, output, effect, idempotent, example, timeoutMs } = tool;
  return {
    name,
    description,
    inputSchemaJson: JSON.stringify(input ?? { type: "object", properties: {}, additionalProperties: false }),
    outputSchemaJson: JSON.stringify(output ?? {}),
    effect: `EFFECT_${(effect ?? "undeclared").toUpperCase()}` as ToolSpec["effect"],
    idempotent: idempotent ?? false,
    exampleJson: example ? JSON.stringify(example) : "",
    timeoutSeconds: (timeoutMs ?? 0) / 1_000,
  };
}

async function resultOf(
  tool: Tool | undefined,
  started: ToolCallStarted__Output,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { call, runId, stepId, timeoutSeconds } = started;
  try {
    if (!tool || !call) throw new ToolFailure("this program has no such tool", "TOOL_NOT_FOUND");
    const context = { callId: call.callId, runId, stepId, timeoutMs: timeoutSeconds * 1_000, signal };
    const data = await tool.execute(JSON.parse(call.argumentsJson || "{}"), context);
    const dataJson = JSON.stringify(data ?? null);
    if (Buffer.byteLength(dataJson) > MAX_DATA_BYTES)
      throw new ToolFailure(`the result has more than ${MAX_DATA_BYTES} bytes of JSON`, "OUTPUT_TOO_LARGE");
    return { success: true, dataJson };
  } catch (thrown) {
    const reason = thrown instanceof ToolFailure ? thrown.reason : "TOOL_RAISED";
    const error = thrown instanceof Error ? thrown.message : String(thrown);
    return { success: false, error: [...error].slice(0, MAX_ERROR_CHARS).join(""), reason };
  }
}
