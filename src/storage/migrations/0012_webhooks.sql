-- Where an account wants its events posted: one row for each entry of its configuration. A URL is once in a type.
create table webhook_endpoints (
  id text primary key,
  account_id text not null,
  type text not null,
  url text not null,
  -- The place in the list, as it was given.
  position bigint not null,
  -- JSON list of the lines whose events it gets; null for all.
  numbers text,
  -- 'standard' or 'extended'.
  schedule text not null,
  -- Sealed JSON: its secret, the one before it, and the entry as it came, in which there may be anything. Null for
  -- a plain URL that never had a secret.
  sealed text,
  kid text,
  created_at bigint not null,
  updated_at bigint not null
);
create unique index webhook_endpoints_url on webhook_endpoints (account_id, type, url);
create index webhook_endpoints_kid on webhook_endpoints (kid, id);

-- What a configuration holds beside its lists. Its row is also the lock that puts an account's changes in order.
create table webhook_settings (
  account_id text primary key,
  -- Grows with every change.
  version bigint not null,
  -- Sealed JSON: the global secret, the older one at the root, and keys that we do not know. Null when there are none.
  sealed text,
  kid text
);
create index webhook_settings_kid on webhook_settings (kid, account_id);

-- How far the events of an account have been turned into deliveries. Only accounts that have ever wanted any are here.
create table webhook_feeds (
  account_id text primary key,
  -- A part of all accounts, delivered by one process at a time.
  shard bigint not null,
  seq bigint not null
);
create index webhook_feeds_shard on webhook_feeds (shard);

create table webhook_shards (
  shard bigint primary key,
  node_id text,
  expires_at bigint not null
);
insert into webhook_shards (shard, expires_at) values (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0);

-- One event for one receiver.
create table webhook_deliveries (
  id integer primary key autoincrement, -- only: sqlite
  id bigint generated always as identity primary key, -- only: postgres
  account_id text not null,
  -- What waits together: an endpoint, or the receiver of status callbacks.
  lane text not null,
  -- Null for status callbacks.
  endpoint_id text,
  type text not null,
  url text not null,
  event_seq bigint not null,
  event_type text not null,
  -- What it is about: two deliveries about the same thing go out one after the other.
  subject text not null,
  -- As it is posted. Empty when what it is about was erased.
  body text not null,
  -- pending, delivered, failed or canceled.
  state text not null,
  attempts bigint not null,
  -- Those since it was last asked for: a replay begins anew.
  tries bigint not null,
  -- When it is to be posted; null once nothing is left to do.
  next_at bigint,
  http_status bigint,
  reason text,
  created_at bigint not null,
  finished_at bigint
);
create index webhook_deliveries_queue on webhook_deliveries (lane, id) where next_at is not null;
create index webhook_deliveries_account on webhook_deliveries (account_id, created_at, id);
create index webhook_deliveries_failed on webhook_deliveries (account_id, created_at, id) where state = 'failed';
create index webhook_deliveries_subject on webhook_deliveries (subject, id);

create table webhook_attempts (
  delivery_id bigint not null,
  n bigint not null,
  at bigint not null,
  ms bigint not null,
  http_status bigint,
  reason text,
  -- JSON; the plain secret is not in it.
  request_headers text not null,
  answer_headers text,
  -- The beginning of it.
  answer text,
  primary key (delivery_id, n)
); -- only: postgres
) without rowid; -- only: sqlite
