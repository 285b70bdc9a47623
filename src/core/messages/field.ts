/** How a field is stored; `parts` is a small object of scalars. */
type FieldKind = 'text' | 'number' | 'flag' | 'json' | 'parts'

/** One field of a message. Columns, rows, send requests and the form that drivers get follow from it. */
export interface Field<T, Traits extends FieldTraits = FieldTraits> {
  kind: FieldKind
  /** The value in a new outbound message until something sets it. */
  initial: T
  traits: Traits
}

interface FieldTraits {
  /** Whether the field changes after the message is stored. */
  changes?: true
  /** Whether the sender sets the field. Requests with different values are different sends. */
  chosen?: true
  /** Whether drivers get the field unchanged. */
  carried?: true
}

type Fields = Record<string, Field<unknown>>

export type ValuesOf<F extends Fields> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/** Names of the fields that have a trait. */
export type NamesWith<F extends Fields, T extends keyof FieldTraits> = {
  [K in keyof F]: F[K] extends Field<unknown, infer Traits>
    ? Traits extends Record<T, true>
      ? K
      : never
    : never
}[keyof F]

/** `field<T>()(kind, initial, traits)`: the type of the value is given, the traits are inferred. */
export const field =
  <T>() =>
  <const Traits extends FieldTraits = Record<never, never>>(
    kind: FieldKind,
    initial: T,
    traits: Traits = {} as Traits,
  ): Field<T, Traits> => ({ kind, initial, traits })

export function namesWith<F extends Fields, T extends keyof FieldTraits>(
  fields: F,
  trait: T,
): NamesWith<F, T>[] {
  return Object.keys(fields).filter((name) => fields[name]!.traits[trait]) as NamesWith<F, T>[]
}

export function initialValues<F extends Fields>(fields: F): ValuesOf<F> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { initial }]) => [name, initial]),
  ) as ValuesOf<F>
}
