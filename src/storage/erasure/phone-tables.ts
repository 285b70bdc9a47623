import { ACCOUNT, NETWORK, type PersonTable } from './person-table.js'

/** Names of columns that do not tell of a person, besides those that these tables share. */
const PLAIN_ON_PHONES: Record<string, string> = {
  sim_location_requests: 'ref',
  sim_locations: 'place',
  sim_cards: 'card',
}

/** Virtual phones and what is on them. */
export const PHONE_TABLES: readonly PersonTable[] = [
  {
    name: 'phone_messages',
    kind: 'phone_messages',
    key: 'id',
    scope: NETWORK,
    at: 'created_at',
    own: 'phone sender',
    text: 'content media_url extra',
    plain:
      'network line_id line_number provider_id ref handle send_style reply_to service chat_id card_session',
  },
  {
    name: 'phone_reactions',
    kind: 'phone_reactions',
    key: 'network provider_id part_index actor',
    scope: NETWORK,
    at: 'at',
    own: 'actor',
    plain: 'network provider_id reaction',
  },
  {
    name: 'phone_groups',
    kind: 'groups',
    key: 'id',
    scope: ACCOUNT,
    text: 'name photo_url members',
    plain: 'id network account_id line_id line_number group_id',
  },
  {
    name: 'phone_group_changes',
    kind: 'groups',
    key: 'chat_id version',
    scope: 'chat_id in (select id from phone_groups where account_id {accounts})',
    at: 'at',
    text: 'actor name photo_url members',
    plain: 'chat_id',
  },
  ...['phone_typing', 'sim_location_requests', 'sim_locations', 'sim_cards'].map(
    (name): PersonTable => ({
      name,
      kind: name === 'sim_locations' ? 'locations' : 'phones',
      key: name === 'phone_typing' ? 'network phone line_id from_phone' : 'network phone line_id',
      scope: NETWORK,
      own: 'phone',
      plain: ['network line_id', PLAIN_ON_PHONES[name]].join(' ').trim(),
    }),
  ),
  {
    name: 'sim_faults',
    kind: 'phones',
    key: 'account_id name',
    scope: ACCOUNT,
    own: 'phone',
    text: 'parameters',
    plain: 'account_id name line_id probability',
  },
  {
    name: 'phones',
    kind: 'phones',
    key: 'network number',
    scope: NETWORK,
    at: 'created_at',
    own: 'number email',
    text: 'name auto_reply',
    plain: 'network',
  },
]
