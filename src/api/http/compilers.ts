import { createRequire } from 'node:module'
import type { Ajv, ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler, FastifySerializerCompiler, FastifyServerOptions } from 'fastify'

/**
 * Schemas are compiled when a route is first used. Loading the compilers and compiling all schemas at the start would
 * take longer than the rest of the start.
 */
const require = createRequire(import.meta.url)

const compileBody = compileOnce(validatorCompiler(false))
const compileUrlPart = compileOnce(validatorCompiler(true))

/** Validates bodies without conversion; values from a URL are text and are converted to the type in the schema. */
export function validators(): FastifySchemaCompiler<object> {
  return ({ schema, httpPart }) => {
    let compiled: ValidateFunction | undefined
    const validate = (data: unknown): boolean => {
      compiled ??= httpPart === 'body' ? compileBody(schema) : compileUrlPart(schema)
      const isValid = compiled(data)
      validate.errors = compiled.errors
      return isValid
    }
    validate.errors = undefined as ValidateFunction['errors']
    return validate as unknown as ReturnType<FastifySchemaCompiler<object>>
  }
}

/** Several apps in one process share what is compiled. */
function compileOnce<T>(compile: (schema: object) => T): (schema: object) => T {
  const known = new WeakMap<object, T>()
  return (schema) => {
    const compiled = known.get(schema) ?? compile(schema)
    known.set(schema, compiled)
    return compiled
  }
}

function validatorCompiler(coerceTypes: boolean): (schema: object) => ValidateFunction {
  let ajv: Ajv | undefined
  return (schema) => {
    ajv ??= createAjv(coerceTypes)
    const compiled = ajv.compile(schema) as ValidateFunction
    ajv.removeSchema(schema) // it would keep the schemas of closed apps
    return compiled
  }
}

function createAjv(coerceTypes: boolean): Ajv {
  const { Ajv } = require('ajv') as typeof import('ajv')
  const { default: addFormats } = require('ajv-formats') as typeof import('ajv-formats')
  return addFormats.default(new Ajv({ coerceTypes, useDefaults: false, allErrors: false, strict: false }))
}

type Compile = ReturnType<ReturnType<typeof import('@fastify/fast-json-stringify-compiler').default>>

type Serialize = (data: unknown) => string

const compileAnswer = compileOnce(serializerCompiler())

export function serializers(): FastifySerializerCompiler<unknown> {
  return ({ schema }) => {
    let serialize: Serialize | undefined
    return (data: unknown) => {
      serialize ??= compileAnswer(schema as object)
      return serialize(data)
    }
  }
}

function serializerCompiler(): (schema: object) => Serialize {
  let compile: Compile | undefined
  return (schema) => {
    compile ??= createSerializers()
    return compile({ schema } as Parameters<Compile>[0]) as Serialize
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
