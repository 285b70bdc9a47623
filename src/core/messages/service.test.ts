import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SERVICES, type Service } from './message.js'
import { nextService, serviceChain, wasDowngraded } from './service.js'

const services = fc.shuffledSubarray<Service>([...SERVICES])

describe('the order of services', () => {
  it.each<[Service[], Service[] | undefined, Service[]]>([
    [['iMessage', 'RCS', 'SMS'], undefined, ['iMessage', 'RCS', 'SMS']],
    [['SMS', 'RCS', 'iMessage'], undefined, ['iMessage', 'RCS', 'SMS']],
    [['iMessage', 'RCS', 'SMS'], ['SMS'], ['SMS']],
    [['iMessage', 'SMS'], ['RCS', 'SMS'], ['SMS']],
    [['iMessage'], ['SMS'], []],
    [['SMS'], [], []],
    [[], undefined, []],
  ])('of a line with %j and a recipient with %j is %j', (line, reachable, chain) => {
    expect(serviceChain(line, reachable)).toEqual(chain)
  })

  it.each<[Service[], Service, Service | undefined]>([
    [['iMessage', 'RCS', 'SMS'], 'iMessage', 'RCS'],
    [['iMessage', 'SMS'], 'iMessage', 'SMS'],
    [['iMessage', 'RCS', 'SMS'], 'RCS', 'SMS'],
    [['iMessage', 'RCS', 'SMS'], 'SMS', undefined],
    [['iMessage'], 'iMessage', undefined],
    [['iMessage'], 'SMS', undefined],
  ])('on %j, after %s comes %s', (line, failed, next) => {
    expect(nextService(line, failed)).toBe(next)
  })

  it('walks the whole chain downwards and ends', () => {
    fc.assert(
      fc.property(services, (line) => {
        const walked: Service[] = []
        for (let at = serviceChain(line)[0]; at; at = nextService(line, at)) walked.push(at)
        expect(walked).toEqual(serviceChain(line))
      }),
    )
  })
})

describe('wasDowngraded', () => {
  it.each<[Service[], Service, boolean | null]>([
    [['iMessage', 'RCS', 'SMS'], 'iMessage', false],
    [['iMessage', 'RCS', 'SMS'], 'RCS', true],
    [['iMessage', 'SMS'], 'SMS', true],
    [['RCS', 'SMS'], 'RCS', null],
    [['RCS', 'SMS'], 'SMS', true],
    [['SMS'], 'SMS', null],
  ])('of a line with %j that used %s is %s', (line, used, downgraded) => {
    expect(wasDowngraded(line, used)).toBe(downgraded)
  })
})
