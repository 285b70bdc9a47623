import SerializerSelector from '@fastify/fast-json-stringify-compiler'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'

/**
 * Schemas become functions when a route is first used. Doing it for all of them at the start would take longer
 * than everything else a start does.
 */

/** Bodies are taken as they are; what comes in a URL is text and is read as what the schema says. */
export function validators(): FastifySchemaCompiler<object> {
  const strict = addFormats.default(new Ajv({ useDefaults: false, allErrors: false, strict: false }))
  const lenient = addFormats.default(new Ajv({ coerceTypes: true, useDefaults: false, strict: false }))
  return ({ schema, httpPart }) => {
    let compiled: ValidateFunction | undefined
    const validate = (data: unknown): boolean => {
      compiled ??= (httpPart === 'body' ? strict : lenient).compile(schema)
      const isValid = compiled(data)
      validate.errors = compiled.errors
      return isValid
    }
    validate.errors = undefined as ValidateFunction['errors']
    return validate as unknown as ReturnType<FastifySchemaCompiler<object>>
  }
}

export function serializers(): FastifySerializerCompiler<unknown> {
  const compile = SerializerSelector()({}, {})
  return (route) => {
    let serialize: ((data: unknown) => string) | undefined
    return (data: unknown) => {
      serialize ??= compile(route as Parameters<typeof compile>[0])
      return serialize(data)
    }
  }
}
