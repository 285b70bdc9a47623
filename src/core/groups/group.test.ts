import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { differences, type Group, membersKey } from './group.js'

const group: Group = {
  id: 'sb_group_1',
  accountId: 'a',
  lineId: 'l',
  chatId: null,
  name: 'Trip',
  photo: { guid: 'G', url: 'https://example.com/a.png' },
  members: ['+12025550101', '+12025550106'].map((handle, i) => ({ id: `m${i}`, handle })),
  createdAt: 1,
  updatedAt: 1,
}

describe('membersKey', () => {
  const handles = fc.uniqueArray(fc.stringMatching(/^\+[1-9]\d{6,14}$/), { minLength: 1, maxLength: 25 })

  it('is the same for the same people in any order', () => {
    fc.assert(
      fc.property(
        handles.chain((list) =>
          fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
        ),
        ([list, shuffled]) => membersKey(list) === membersKey(shuffled),
      ),
    )
  })

  it('differs as soon as somebody does', () => {
    fc.assert(
      fc.property(handles, handles, (a, b) => {
        const same = [...a].sort().join() === [...b].sort().join()
        return (membersKey(a) === membersKey(b)) === same
      }),
    )
  })

  it('does not run numbers into each other', () => {
    expect(membersKey(['+1202555010', '1+12025550106'])).not.toBe(
      membersKey(['+12025550101', '+12025550106']),
    )
  })
})

describe('differences', () => {
  it.each<[string, Parameters<typeof differences>[1], object]>([
    ['nothing wanted', {}, {}],
    [
      'what it has',
      { handles: ['+12025550106', '+12025550101'], name: 'Trip', photoUrl: 'https://example.com/a.png' },
      {},
    ],
    ['another name', { name: 'Other', photoUrl: 'https://example.com/a.png' }, { name: 'Other' }],
    ['no name', { name: null }, { name: null }],
    ['no photo', { photoUrl: null }, { photoUrl: null }],
    [
      'one more',
      { handles: ['+12025550101', '+12025550106', '+12025550107'] },
      { handles: expect.any(Array) },
    ],
    ['one fewer', { handles: ['+12025550101'] }, { handles: ['+12025550101'] }],
  ])('%s', (_name, wanted, expected) => {
    expect(differences(group, wanted)).toEqual(expected)
  })

  it('no photo stays none', () => {
    expect(differences({ ...group, photo: null }, { photoUrl: null })).toEqual({})
  })
})
