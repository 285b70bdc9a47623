import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { minimumOf } from '../../src/storage/engine/migrate.js'

const FOLDER = new URL('../../src/storage/migrations/', import.meta.url)
/** Databases of releases begin here. Earlier migrations ran on no database of a release. */
const FIRST_RELEASE = '0045_handover.sql'

/** Statements that a program of the release before would not survive. */
const CONTRACTING: [what: string, pattern: RegExp][] = [
  ['drops a table', /\bdrop\s+table\b/i],
  ['drops a column', /\bdrop\s+column\b/i],
  ['renames', /\brename\s+(to|column)\b/i],
  ['changes the type of a column', /\balter\s+column\s+\w+\s+(set\s+data\s+)?type\b/i],
  ['forbids null', /\bset\s+not\s+null\b/i],
  ['adds a column without a default', /\badd\s+column\b(?![^;]*\bdefault\b)[^;]*\bnot\s+null\b/i],
  ['adds a constraint', /\badd\s+(constraint|check|unique|foreign)\b/i],
]

const contractionsOf = (text: string): string[] => {
  const statements = text.replace(/--[^\n]*/g, '')
  const own = [...statements.matchAll(/create\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/gi)].map(
    ([, name]) => name,
  )
  const found = CONTRACTING.filter(([, pattern]) => pattern.test(statements)).map(([what]) => what)
  // A program of the release before leaves a new column null, and rows with a null are never equal.
  const added = [...statements.matchAll(/\balter\s+table\s+(\w+)\s+add\s+column\s+(\w+)\s+\w+\s*;/gi)].map(
    ([, table, column]) => `${table}.${column}`,
  )
  const indexes = statements.matchAll(/create\s+unique\s+index\s+[\w\s]+?\bon\s+(\w+)\s*\(([^)]*)\)/gi)
  for (const [, table, columns] of indexes)
    if (!own.includes(table) && !columns!.split(',').some((one) => added.includes(`${table}.${one.trim()}`)))
      found.push(`makes rows of ${table} unique`)
  return found
}

/** A migration that takes something away names the migration that programs must know; that one is older. */
const faultsOf = (name: string, text: string): string[] => {
  const minimum = minimumOf(text)
  if (minimum !== undefined) return minimum < name ? [] : ['its minimum is not an earlier migration']
  return contractionsOf(text)
}

describe('migrations since the first release', () => {
  const names = readdirSync(FOLDER)
    .filter((name) => name > FIRST_RELEASE && name.endsWith('.sql'))
    .sort()

  it('only add', () => {
    for (const name of names)
      expect(faultsOf(name, readFileSync(new URL(name, FOLDER), 'utf8')), name).toEqual([])
  })

  it('are recognised when they take something away', () => {
    const faults = (text: string) => faultsOf('0050_x.sql', text)
    expect(faults('alter table messages drop column text;')).toEqual(['drops a column'])
    expect(faults('drop table lines;')).toEqual(['drops a table'])
    expect(faults('alter table lines rename to wires;')).toEqual(['renames'])
    expect(faults('alter table lines add column x text not null;')).toEqual([
      'adds a column without a default',
    ])
    expect(faults("alter table lines add column x text not null default '';")).toEqual([])
    expect(faults('create unique index u on lines (number);')).toEqual(['makes rows of lines unique'])
    const added = 'alter table lines add column x text;'
    expect(faults(`${added} create unique index u on lines (number, x);`)).toEqual([])
    expect(faults(`${added} create unique index u on lines (number);`)).toHaveLength(1)
    expect(
      faults("alter table lines add column x text default ''; create unique index u on lines (x);"),
    ).toHaveLength(1)
    expect(faults('create table t (a text); create unique index u on t (a);')).toEqual([])
    expect(faults('-- minimum: 0049_y.sql\ndrop table lines;')).toEqual([])
    expect(faults('-- minimum: 0050_x.sql\ndrop table lines;')).toHaveLength(1)
  })
})
