/**
 * The Node client of aeond: creates runs, follows their events, answers their questions, cancels them, and serves tools.
 *
 *     const client = await Client.open();
 *     for await (const event of client.ask("What is 17.5% of 2400?"))
 *       if (event.answerComposed) console.log(event.answerComposed.answer?.text);
 *     client.close();
 *
 * Every wait has a deadline and every retry a limit. Failed calls throw AeondError.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { AeondError, delay, errorOf } from "./errors.js";
import { findSocket } from "./sockets.js";
import { type ServeOptions, type Tool, type ToolContext, ToolFailure, ToolServer } from "./serving.js";
import { follow, type WatchStream } from "./watch.js";
import type { CreateRunRequest } from "./contract/aeond/api/v1/CreateRunRequest.js";
import type { Event__Output } from "./contract/aeond/api/v1/Event.js";
import type { Run__Output } from "./contract/aeond/api/v1/Run.js";
import type { RunServiceClient } from "./contract/aeond/api/v1/RunService.js";
import type { ProtoGrpcType } from "./contract/runs.js";
import type { ProtoGrpcType as ToolsGrpcType } from "./contract/tools.js";

export { AeondError, ToolFailure };
export type { CreateRunRequest, ServeOptions, Tool, ToolContext };
/**
 * An event; the field named by `kind` has its content. Events with seq 0 are live updates, which are not repeated. An
 * event of a kind that this client does not have has no `kind`: ignore it.
 */
export type Event = Event__Output;
export type Run = Run__Output;

export interface Options {
  /** Path of the socket. Default: $AEOND_SOCKET, else the socket of the user's daemon, else that of the system's. */
  socket?: string;
  /** Deadline of each attempt of a call, in milliseconds. Default: 30,000. */
  callMs?: number;
  /** Attempts of a call that is safe to repeat. Default: 6. */
  attempts?: number;
  /** How long a watch waits for a daemon that has gone away before it throws, in milliseconds. Default: 60,000. */
  patienceMs?: number;
  /** A stream is renewed after this time in milliseconds, so that a daemon that hangs is noticed. Default: 600,000. */
  streamMs?: number;
}

type Reply = { run: Run | null };
type Method<Request> = (
  request: Request,
  options: grpc.CallOptions,
  callback: (error: grpc.ServiceError | null, reply?: Reply) => void,
) => grpc.ClientUnaryCall;

/** The protobuf files, beside the compiled modules. */
const PROTOS = fileURLToPath(new URL("../protos", import.meta.url));

/** A connection to the daemon. */
export class Client {
  private readonly watches = new Set<WatchStream>();
  private closed = false;

  private constructor(
    private readonly options: Required<Options>,
    private readonly calls: RunServiceClient,
    // A stream that is not read must not delay a call, so the two have connections of their own.
    private readonly streams: RunServiceClient,
  ) {}

  /** Connects to the first socket on which a daemon is listening; throws AeondError (NO_DAEMON) if there is none. */
  static async open(options: Options = {}): Promise<Client> {
    const socket = await findSocket(options.socket ?? "");
    const defaults = { callMs: 30_000, attempts: 6, patienceMs: 60_000, streamMs: 600_000 };
    return new Client({ ...defaults, ...options, socket }, connect(socket), connect(socket));
  }

  /** Ends the connection and every watch, with the reason CLIENT_CLOSED, which later calls have, too; runs continue. */
  close(): void {
    this.closed = true;
    for (const stream of this.watches) stream.cancel(); // gRPC would wait for its end
    this.calls.close();
    this.streams.close();
  }

  /** Creates a run and follows it from its first event. */
  async *ask(request: string | CreateRunRequest): AsyncGenerator<Event, void, undefined> {
    const run = await this.create(typeof request === "string" ? { request: { text: request } } : request);
    yield* this.watch(run.runId);
  }

  /**
   * Follows a run after an event (0: from the first one): its events in order, without gaps or duplicates, across lost
   * connections and restarts of the daemon. To resume later, keep the last `seq`. Leaving the loop ends the watch; the
   * run continues.
   */
  watch(runId: string, afterSeq = 0): AsyncGenerator<Event, void, undefined> {
    const { patienceMs, streamMs } = this.options;
    const open = (seq: number) => {
      this.checkOpen();
      return this.streams.watchRun({ runId, afterSeq: seq }, { deadline: Date.now() + streamMs });
    };
    return follow(open, this.watches, { afterSeq, patienceMs });
  }

  /** Returns once the run is on disk. Without a requestId it gets a random one, so that a repeat is safe. */
  create(given: CreateRunRequest): Promise<Run> {
    const request = { ...given.request, requestId: given.request?.requestId || randomUUID() };
    return this.call(this.calls.createRun, { ...given, request }, true);
  }

  get(runId: string): Promise<Run> {
    return this.call(this.calls.getRun, { runId }, true);
  }

  /** Answers a question with a JSON value; without a questionId the only open one. */
  answer(runId: string, answer: unknown, questionId = ""): Promise<Run> {
    return this.call(this.calls.answerRun, { runId, questionId, answerJson: JSON.stringify(answer) }, false);
  }

  /** Requests the cancellation of a run; a run that has ended stays unchanged. */
  cancel(runId: string, reason = ""): Promise<Run> {
    return this.call(this.calls.cancelRun, { runId, reason }, true);
  }

  /**
   * Offers tools to the runs of this user until `options.signal` is aborted; then withdraws them. A daemon that went away is
   * waited for, for `patienceMs`: the tools are offered again, calls in progress go on under their id, and their results are
   * delivered. The AeondError of a rejected offer has the reason TOOL_EXISTS or names the invalid `field`.
   */
  async serveTools(tools: readonly Tool[], options: ServeOptions = {}): Promise<void> {
    const stub = new (contract<ToolsGrpcType>("tools").aeond.api.v1.ToolService)(...target(this.options.socket));
    try {
      await new ToolServer(() => stub.serveTools(), tools, options, this.options.patienceMs).serve();
    } finally {
      stub.close();
    }
  }

  private async call<Request>(method: Method<Request>, request: Request, repeatable: boolean): Promise<Run> {
    for (let attempt = 1; ; attempt++) {
      this.checkOpen();
      try {
        return await new Promise<Run>((resolve, reject) => {
          method.call(this.calls, request, { deadline: Date.now() + this.options.callMs }, (error, reply) =>
            error ? reject(errorOf(error)) : resolve(reply!.run!),
          );
        });
      } catch (error) {
        if (!(error instanceof AeondError)) throw error;
        if (attempt >= this.options.attempts || !error.mayRepeat(repeatable)) throw error;
        await sleep(delay(attempt, 50, 2_000, error.retryAfterMs));
      }
    }
  }

  private checkOpen(): void {
    if (this.closed) throw new AeondError("The client was closed.", grpc.status.CANCELLED, "CLIENT_CLOSED");
  }
}

function connect(socket: string): RunServiceClient {
  return new (contract<ProtoGrpcType>("runs").aeond.api.v1.RunService)(...target(socket));
}

function contract<Contract>(file: string): Contract {
  const definition = loadSync(`aeond/api/v1/${file}.proto`, {
    includeDirs: [PROTOS],
    longs: Number,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  return grpc.loadPackageDefinition(definition) as unknown as Contract;
}

function target(socket: string): [string, grpc.ChannelCredentials, grpc.ClientOptions] {
  const options = {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.default_authority": "localhost",
    "grpc.enable_http_proxy": 0,
    // A local daemon restarts within a second; gRPC would wait up to two minutes.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
    // A run with all its outputs; an event is far smaller.
    "grpc.max_receive_message_length": 64 << 20,
  };
  return [`unix:${socket}`, grpc.credentials.createInsecure(), options];
}
