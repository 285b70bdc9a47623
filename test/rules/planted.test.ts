import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PLANTED } from '../simulation/planted.js'

it('every planted fault has its place in the program', () => {
  const lost = PLANTED.filter(({ file, from }) => readFileSync(file, 'utf8').split(from).length !== 2)
  expect(lost.map(({ name, file }) => `${file}: ${name}`)).toEqual([])
})
