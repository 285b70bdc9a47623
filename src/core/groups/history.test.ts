import { expect, it } from 'vitest'
import type { PhoneGroupChange } from '../sim/phone.js'
import { groupSteps } from './history.js'

const chat = (version: number, change: Partial<PhoneGroupChange>): PhoneGroupChange => ({
  chatId: 'c',
  version,
  actor: 'ada',
  name: null,
  photoUrl: null,
  members: ['ada', 'bob', 'cleo'],
  at: version,
  ...change,
})

it('tells what happened to a chat from how it was after each change', () => {
  const steps = groupSteps([
    chat(1, {}),
    chat(2, { name: 'Trip' }),
    chat(3, { name: 'Trip', actor: 'line', members: ['ada', 'bob', 'cleo', 'dan'] }),
    chat(4, { name: 'Trip', actor: 'bob', members: ['ada', 'cleo', 'dan'] }),
    chat(5, { name: null, photoUrl: 'p', actor: 'cleo', members: ['cleo', 'dan'] }),
  ])
  expect(steps.map(({ kind, by, value, at }) => [at, by, kind, value])).toEqual([
    [1, 'ada', 'made', null],
    [2, 'ada', 'named', 'Trip'],
    [3, 'line', 'added', 'dan'],
    [4, 'bob', 'left', 'bob'],
    [5, 'cleo', 'unnamed', null],
    [5, 'cleo', 'photo', 'p'],
    [5, 'cleo', 'removed', 'ada'],
  ])
})
