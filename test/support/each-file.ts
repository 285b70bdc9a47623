import { afterAll } from 'vitest'
import { cleanUp } from './leftovers.js'
import './watchdog.js'

// Runs for every test file. A hook in a module that all files of a worker share would belong to the first of them.
afterAll(cleanUp)
