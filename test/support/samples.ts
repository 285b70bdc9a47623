import { ADA, BOB, type Json, LINE } from './world.js'

/** Whether an operation of the API document answers with a stream, which does not end. */
export function isStream(operation: Json): boolean {
  return JSON.stringify(operation.responses).includes('text/event-stream')
}

/** Something a field could hold, so that the fields around a wrong one are right. */
export function sample(name: string, schema: Json): unknown {
  if (schema.enum) return schema.enum[0]
  if (schema.const !== undefined) return schema.const
  if (schema.anyOf) return sample(name, schema.anyOf[0])
  const type = [schema.type].flat()[0]
  if (type === 'object' || schema.properties) {
    const required: string[] = schema.required ?? []
    return Object.fromEntries(required.map((field) => [field, sample(field, schema.properties[field])]))
  }
  if (type === 'array')
    return Array.from({ length: schema.minItems ?? 1 }, (_, i) =>
      /number/.test(name) ? [ADA, BOB][i % 2] : sample(name, schema.items ?? {}),
    )
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1
  if (type === 'boolean') return true
  if (/from_?number|sendblue_number|^to$/i.test(name)) return LINE
  if (/number|phone|recipient/i.test(name)) return ADA
  if (/origin/i.test(name)) return 'https://example.com'
  // A port at which nobody listens: a name would have to be looked up.
  if (/url/i.test(name)) return 'http://127.0.0.1:9/x.jpg'
  if (/email/i.test(name)) return 'someone@example.com'
  return 'Hello'
}
