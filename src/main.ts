#!/usr/bin/env node
import { run } from './cli/cli.js'

const { stdin, stdout, stderr, env } = process

process.exitCode = await run(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env,
  onSignal(listener) {
    process.on('SIGINT', listener).on('SIGTERM', listener)
    return () => void process.off('SIGINT', listener).off('SIGTERM', listener)
  },
  exit: (code) => process.exit(code),
})
