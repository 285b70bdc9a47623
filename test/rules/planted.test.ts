import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PLANTED_BETWEEN } from '../faults/planted.js'
import { PLANTED } from '../simulation/planted.js'

it('every planted fault has its place in the program', () => {
  const planted = [...PLANTED, ...PLANTED_BETWEEN]
  expect(planted.length).toBeGreaterThanOrEqual(20)
  const lost = planted.filter(({ file, from }) => readFileSync(file, 'utf8').split(from).length !== 2)
  expect(lost.map(({ name, file }) => `${file}: ${name}`)).toEqual([])
})

it('every planted fault between processes has its test', () => {
  const lost = PLANTED_BETWEEN.filter(
    ({ test }) => !readFileSync(test.file, 'utf8').includes(`it('${test.title}'`),
  )
  expect(lost.map(({ name, test }) => `${test.file}: ${name}`)).toEqual([])
})
