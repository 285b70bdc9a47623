import { ACCOUNT, type PersonTable } from './person-table.js'

/** Events, webhooks and API calls: what was told to whom. */
export const LOG_TABLES: readonly PersonTable[] = [
  {
    name: 'events',
    kind: 'events',
    key: 'account_id seq',
    scope: ACCOUNT,
    at: 'at',
    text: 'subject data',
    plain: 'account_id type',
  },
  {
    name: 'webhook_deliveries',
    kind: 'webhook_deliveries',
    key: 'id',
    scope: ACCOUNT,
    at: 'created_at',
    text: 'subject body url reason',
    plain: 'account_id lane endpoint_id type event_type state',
  },
  {
    name: 'requests',
    kind: 'requests',
    key: 'account_id at id',
    scope: ACCOUNT,
    // No `at`: its times are those of the machine's clock, and requests for an erasure are in the service's.
    own: 'path error_message ignored request_body response_body',
    // A body can hold a text of the person without naming them.
    also: 'request_body is not null or response_body is not null',
    plain: 'account_id id method key_id error_code',
  },
  {
    name: 'webhook_attempts',
    kind: 'webhook_attempts',
    key: 'delivery_id n',
    scope: 'delivery_id in (select id from webhook_deliveries where account_id {accounts})',
    at: 'at',
    text: 'request_headers answer_headers answer reason',
    plain: '',
  },
]
