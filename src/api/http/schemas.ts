import { type TSchema, Type } from 'typebox'

/** The fields of requests and answers: what a value is, what it means, and rules that validation checks. */

type Rules = Record<string, unknown>

export const string = (description: string, rules: Rules = {}) => Type.String({ ...rules, description })
export const integer = (description: string, rules: Rules = {}) => Type.Integer({ ...rules, description })
export const number = (description: string, rules: Rules = {}) => Type.Number({ ...rules, description })
export const boolean = (description: string, rules: Rules = {}) => Type.Boolean({ ...rules, description })
export const strings = (description: string, rules: Rules = {}) =>
  Type.Array(Type.String(), { ...rules, description })
export const optional = Type.Optional

/** An answer that lists items. */
export const listOf = <T extends TSchema>(item: T) => Type.Object({ data: Type.Array(item) })

export const oneOf = <T = string>(values: readonly string[], description: string, rules: Rules = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...rules, description })

interface Values {
  string: string
  integer: number
  number: number
  boolean: boolean
}

/** Not a union: its serialiser would validate each value to tell the two types apart. */
export const nullable = <T extends keyof Values>(type: T, description: string, rules: Rules = {}) =>
  Type.Unsafe<Values[T] | null>({ type: [type, 'null'], ...rules, description })
