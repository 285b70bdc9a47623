// What the compiler leaves behind: files beside the code that reads them.
import { cpSync } from 'node:fs'

cpSync('src/storage/migrations', 'dist/storage/migrations', { recursive: true })
cpSync('src/api/widget', 'dist/api/widget', { recursive: true })
