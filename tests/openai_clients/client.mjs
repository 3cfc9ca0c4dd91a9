// Makes calls with the official Node client of the OpenAI API: the lines that client.py reads and prints.
import readline from 'node:readline'

import OpenAI, { APIError } from 'openai'

const client = new OpenAI()

async function outcome(call) {
  const names = call.method.split('.')
  const name = names.pop()
  const owner = names.reduce((found, one) => found[one], client)
  try {
    const given = Object.keys(call.arguments).length ? [call.arguments] : []
    const made = await owner[name](...(call.place ?? []), ...given)
    if (!call.arguments.stream) return { result: made }
    const events = []
    for await (const event of made) {
      events.push(event)
      if (events.length === call.leave_after) break
    }
    return { events }
  } catch (error) {
    if (!(error instanceof APIError)) throw error
    return { error: { status: error.status ?? 0, code: error.code, message: error.message } }
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await outcome(JSON.parse(line))) + '\n')
}
