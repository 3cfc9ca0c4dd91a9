// Calls a tool of an MCP server as a task, with the official library of the extension: tasks.mjs CALL COMMAND...
// CALL is JSON: `name`, `arguments`, `content` of each form in order (null declines), `cancel`. Prints the outcome, the
// id of the task, and the messages of the forms as a line of JSON. Standard input and output of COMMAND are the connection.
import { spawn } from 'node:child_process'
import readline from 'node:readline'

import { TaskCancelledError, resultFromTaskOutcome, withTasks } from '@modelcontextprotocol/ext-tasks/client'

const [call, command, ...words] = [JSON.parse(process.argv[2]), ...process.argv.slice(3)]
const server = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] })
const waiting = new Map()
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'tasks.mjs', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
}
let count = 0

readline.createInterface({ input: server.stdout }).on('line', (line) => {
  const { id, result, error } = JSON.parse(line)
  waiting.get(id)?.(error ? { kind: 'error', error } : { kind: 'result', result })
  waiting.delete(id)
})

function dispatch(request) {
  const id = ++count
  const params = { ...request.params, _meta: { ...request.params?._meta, ...meta } }
  return new Promise((resolve) => {
    waiting.set(id, resolve)
    server.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, ...request, params }) + '\n')
  })
}

const none = () => () => {}
const port = {
  endpointId: 'aeond',
  taskCapabilities: { generation: 'v2', capabilities: {} },
  dispatch,
  onServerRequest: none,
  onNotification: none,
  onInvalidated: none,
  invalidated: false,
}

const forms = []
const session = withTasks(port, {
  onError: (error) => { throw error },
  onInputRequest: async ({ params }) => {
    forms.push(params.message)
    const content = call.content[forms.length - 1]
    return content ? { action: 'accept', content } : { action: 'decline' }
  },
})
const { result } = await dispatch({ method: 'server/discover' })
const outcome = { extensions: Object.keys(result.capabilities.extensions) }
const execution = await session.callTool(call.name, call.arguments)
if (call.cancel) await execution.cancel()
try {
  outcome.result = resultFromTaskOutcome((await execution.settle()).outcome)
} catch (error) {
  outcome.cancelled = error instanceof TaskCancelledError
  if (!outcome.cancelled) throw error
}
console.log(JSON.stringify({ ...outcome, forms, task: execution.handle?.taskId }))
await session.close()
server.stdin.end()
