// What the compiler leaves behind: SQL files beside the code that reads them.
import { cpSync } from 'node:fs'

cpSync('src/storage/migrations', 'dist/storage/migrations', { recursive: true })
