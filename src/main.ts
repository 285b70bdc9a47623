import { run } from './cli/cli.js'
import { EXIT } from './cli/help.js'
import { onEndOfNpx } from './cli/npx.js'

const { stdin, stdout, stderr, env } = process
const stops = new Set<() => void>()
const LINGER_MS = 5000
let isClosed = false

// The reader of standard output, like head, has closed it: the command stops as on a signal, or ends here.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  if (isClosed) return
  isClosed = true
  if (stops.size === 0) process.exit(EXIT.closed)
  stopAll()
})
onEndOfNpx(env, stopAll)
// Without a reader for its notes and errors, a command still does its work and ends with its own code.
stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

function stopAll() {
  for (const stop of [...stops]) stop()
}

// Without top-level await, which a module in the code cache cannot have.
void run(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env,
  onStop(stop) {
    stops.add(stop)
    process.on('SIGINT', stop).on('SIGTERM', stop)
    return () => {
      stops.delete(stop)
      process.off('SIGINT', stop).off('SIGTERM', stop)
    }
  },
  exit: (status) => process.exit(status),
}).then((code) => {
  process.exitCode = isClosed ? EXIT.closed : code
  setTimeout(end, LINGER_MS).unref()
})

/** Nothing that is still open keeps a command that has ended, except what its reader has not taken yet. */
function end() {
  if (stdout.writableLength > 0) setTimeout(end, LINGER_MS).unref()
  else process.exit()
}
