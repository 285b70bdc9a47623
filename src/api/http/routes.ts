import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyInstance,
  FastifySchema,
  preValidationAsyncHookHandler,
  preValidationHookHandler,
  RawServerDefault,
} from 'fastify'

import { type Aliases, documentAliases, withAliases } from './aliases.js'
import { optionalBody } from './body.js'

/** The server for route files: schemas give bodies, queries and answers their types. */
export type Routes = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export interface RouteSchema extends FastifySchema {
  /** Older names of the body's fields. */
  aliases?: Aliases
  /** Paths of objects in the body whose nulls count as absent, like those of the body itself. */
  objects?: readonly string[]
  /** A request may come without a body. */
  optionalBody?: boolean
  /** Changes or checks the body after its older names are replaced and before its schema is checked. */
  beforeValidation?: BodyHook
  /**
   * A body that succeeds in the default world when it is sent as shown. A name in braces, such as {group_id}, stands
   * for an id that an earlier answer gave.
   */
  example?: object
  /** Refusals beyond those of every route, by status, and when they happen. */
  errors?: Readonly<Record<number, string>>
  /** Why the route writes no audit log, although it is no GET. */
  unaudited?: FastifyContextConfig['unaudited']
}

type BodyHook = preValidationHookHandler | preValidationAsyncHookHandler

export interface RouteOptions<S> {
  config: FastifyContextConfig
  preValidation: BodyHook[]
  schema: S
}

/** Describes the routes of one subject: their heading in the API document and who may call them. */
export function routesOf(tag: string, access: FastifyContextConfig) {
  return <const S extends RouteSchema>(route: S): RouteOptions<S> => {
    const {
      aliases,
      objects,
      optionalBody: mayBeEmpty = false,
      beforeValidation,
      unaudited,
      example,
      errors,
      ...schema
    } = route
    return {
      config: {
        ...access,
        optionalBody: mayBeEmpty,
        ...(unaudited ? { unaudited } : {}),
        ...(aliases ? { swaggerTransform: documentAliases(aliases) } : {}),
      },
      preValidation: [
        ...(mayBeEmpty ? [optionalBody] : []),
        ...(aliases ? [withAliases(aliases, objects)] : []),
        ...(beforeValidation ? [beforeValidation] : []),
      ],
      schema: {
        tags: [tag],
        ...schema,
        ...(mayBeEmpty ? { 'x-optional-body': true } : {}),
        ...(example ? { 'x-example': example } : {}),
        ...(errors ? { 'x-errors': errors } : {}),
      } as unknown as S,
    }
  }
}
