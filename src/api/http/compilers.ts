import { createRequire } from 'node:module'
import type { Ajv, ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler, FastifySerializerCompiler, FastifyServerOptions } from 'fastify'

/**
 * Schemas are compiled when a route is first used. Loading the compilers and compiling all schemas at the start would
 * take longer than the rest of the start.
 */
const require = createRequire(import.meta.url)

/** Validates bodies without conversion; values from a URL are text and are converted to the type in the schema. */
export function validators(): FastifySchemaCompiler<object> {
  let strict: Ajv | undefined
  let lenient: Ajv | undefined
  const ajvOf = (httpPart: string | undefined): Ajv => {
    if (httpPart === 'body') {
      strict ??= createAjv(false)
      return strict
    }
    lenient ??= createAjv(true)
    return lenient
  }
  return ({ schema, httpPart }) => {
    let compiled: ValidateFunction | undefined
    const validate = (data: unknown): boolean => {
      compiled ??= ajvOf(httpPart).compile(schema) as ValidateFunction
      const isValid = compiled(data)
      validate.errors = compiled.errors
      return isValid
    }
    validate.errors = undefined as ValidateFunction['errors']
    return validate as unknown as ReturnType<FastifySchemaCompiler<object>>
  }
}

function createAjv(coerceTypes: boolean): Ajv {
  const { Ajv } = require('ajv') as typeof import('ajv')
  const { default: addFormats } = require('ajv-formats') as typeof import('ajv-formats')
  return addFormats.default(new Ajv({ coerceTypes, useDefaults: false, allErrors: false, strict: false }))
}

type Compile = ReturnType<ReturnType<typeof import('@fastify/fast-json-stringify-compiler').default>>

export function serializers(): FastifySerializerCompiler<unknown> {
  let compile: Compile | undefined
  return (route) => {
    let serialize: ((data: unknown) => string) | undefined
    return (data: unknown) => {
      compile ??= createSerializers()
      serialize ??= compile(route as Parameters<Compile>[0])
      return serialize!(data)
    }
  }
}

function createSerializers(): Compile {
  const { default: select } =
    require('@fastify/fast-json-stringify-compiler') as typeof import('@fastify/fast-json-stringify-compiler')
  return select()({}, {})
}

type Compilers = NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']

/** Without these, Fastify loads its own compilers at the start. */
export const COMPILERS = { buildValidator: validators, buildSerializer: serializers } as unknown as Compilers

/** Loads the compilers before the first requests need them. */
export function warmUp(): void {
  createAjv(false)
  createSerializers()
}
