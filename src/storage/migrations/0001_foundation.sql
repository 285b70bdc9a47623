-- Times are epoch milliseconds, booleans 0 or 1, JSON is text. A line marked `only:` is for one engine.

create table accounts (
  id text primary key,
  email text not null,
  name text not null,
  plan text not null,
  world text not null check (world in ('live', 'test')),
  twin_id text not null,
  created_at bigint not null,
  removed_at bigint
);
create unique index accounts_email on accounts (email, world) where removed_at is null;

create table keys (
  id text primary key,
  account_id text references accounts (id),
  kind text not null check (kind in ('live', 'test', 'admin')),
  secret_hash text not null,
  label text not null,
  well_known bigint not null,
  created_at bigint not null,
  revoked_at bigint
);
create index keys_account on keys (account_id);

create table lines (
  id text primary key,
  network text not null,
  number text not null,
  kind text not null check (kind in ('dedicated', 'shared')),
  account_id text references accounts (id),
  driver text not null,
  config text not null,
  pace bigint not null,
  on_unknown text not null check (on_unknown in ('hold', 'resend')),
  settle_ms bigint not null,
  created_at bigint not null,
  removed_at bigint
);
create unique index lines_number on lines (network, number) where removed_at is null;
create index lines_account on lines (account_id);

-- The accounts that may use a shared line.
create table line_members (
  line_id text not null references lines (id),
  account_id text not null references accounts (id),
  primary key (line_id, account_id)
);
create index line_members_account on line_members (account_id);

-- Which process drives a line. The epoch grows with every change of hands and fences the one before.
create table line_leases (
  line_id text primary key,
  node_id text not null,
  epoch bigint not null,
  expires_at bigint not null
);

create table nodes (
  id text primary key,
  started_at bigint not null,
  seen_at bigint not null
);

create table seats (
  id text primary key,
  account_id text not null references accounts (id),
  email text not null,
  subject text,
  first_name text,
  last_name text,
  created_at bigint not null,
  removed_at bigint
);
create unique index seats_email on seats (account_id, email) where removed_at is null;
create unique index seats_subject on seats (account_id, subject) where removed_at is null and subject is not null;

create table opt_outs (
  account_id text not null,
  number text not null,
  opted_out_at bigint not null,
  primary key (account_id, number)
);

-- A message is its own job: it needs something done while next_action_at is set, and the check says that
-- nothing can wait without it.
create table messages (
  id integer primary key autoincrement, -- only: sqlite
  id bigint generated always as identity primary key, -- only: postgres
  handle text not null,
  account_id text not null,
  line_id text not null,
  line_number text not null,
  contact text not null,
  group_id text,
  is_outbound bigint not null,
  type text not null,
  status text not null,
  service text not null,
  was_downgraded bigint,
  content text not null,
  media_url text not null,
  send_style text not null,
  status_callback text,
  reply_to text,
  reply_to_part bigint,
  seat_id text,
  sender_email text,
  opted_out bigint not null,
  error_code bigint,
  error_message text,
  error_reason text,
  error_detail text,
  created_at bigint not null,
  updated_at bigint not null,
  sent_at bigint not null,
  next_action_at bigint,
  attempts bigint not null,
  version bigint not null,
  provider_id text,
  check (next_action_at is not null or status not in ('REGISTERED', 'QUEUED', 'PENDING'))
);
create unique index messages_handle on messages (handle);
-- SQLite ends every index entry with the row's id by itself.
create index messages_created on messages (account_id, created_at); -- only: sqlite
create index messages_created on messages (account_id, created_at, id); -- only: postgres
create index messages_updated on messages (account_id, updated_at); -- only: sqlite
create index messages_updated on messages (account_id, updated_at, id); -- only: postgres
create index messages_sent on messages (account_id, sent_at); -- only: sqlite
create index messages_sent on messages (account_id, sent_at, id); -- only: postgres
create index messages_contact on messages (account_id, contact, created_at); -- only: sqlite
create index messages_contact on messages (account_id, contact, created_at, id); -- only: postgres
create index messages_line on messages (account_id, line_id, is_outbound, created_at); -- only: sqlite
create index messages_line on messages (account_id, line_id, is_outbound, created_at, id); -- only: postgres
create index messages_status on messages (account_id, status, created_at); -- only: sqlite
create index messages_status on messages (account_id, status, created_at, id); -- only: postgres
create index messages_group on messages (account_id, group_id, created_at) where group_id is not null; -- only: sqlite
create index messages_group on messages (account_id, group_id, created_at, id) where group_id is not null; -- only: postgres
create index messages_queue on messages (line_id) where next_action_at is not null; -- only: sqlite
create index messages_queue on messages (line_id, id) where next_action_at is not null; -- only: postgres
create unique index messages_provider on messages (line_id, provider_id) where provider_id is not null;

-- One row per try to put a message on the wire, committed before the first byte leaves.
create table attempts (
  ref text primary key,
  message_id bigint not null,
  n bigint not null,
  line_id text not null,
  epoch bigint not null,
  service text not null,
  state text not null check (state in ('on_wire', 'accepted', 'refused', 'never_left', 'unknown', 'given_up')),
  wire_at bigint not null,
  ended_at bigint,
  provider_id text,
  lookups bigint not null,
  code text,
  detail text
); -- only: postgres
) without rowid; -- only: sqlite
create unique index attempts_message on attempts (message_id, n);
create unique index attempts_provider on attempts (line_id, provider_id) where provider_id is not null;

-- Receipts that overtook the answer to the send they are about.
create table parked_receipts (
  line_id text not null,
  provider_id text not null,
  status text not null,
  report text not null,
  received_at bigint not null,
  primary key (line_id, provider_id, status)
);

create table event_counters (
  account_id text primary key,
  last_seq bigint not null
);

create table events (
  account_id text not null,
  seq bigint not null,
  type text not null,
  subject text not null,
  at bigint not null,
  data text not null,
  primary key (account_id, seq)
); -- only: postgres
) without rowid; -- only: sqlite

-- How many messages there are, by everything a list filters by that has few values, over all time (series
-- 'all') and by day and hour of each date: the totals of lists come from here, whatever the size of the table.
create table message_counts (
  account_id text not null,
  series text not null,
  width bigint not null,
  bucket bigint not null,
  line_id text not null,
  is_outbound bigint not null,
  status text not null,
  service text not null,
  type text not null,
  n bigint not null,
  primary key (account_id, series, width, bucket, line_id, is_outbound, status, service, type)
); -- only: postgres
) without rowid; -- only: sqlite

-- Answers to POSTs, kept so that a repeat gets the first answer instead of a second effect.
create table replays (
  account_id text not null,
  path text not null,
  key text not null,
  request_hash text not null,
  status bigint not null,
  body text not null,
  created_at bigint not null,
  expires_at bigint not null,
  primary key (account_id, path, key)
);
create index replays_expiry on replays (expires_at);

-- The simulator's other side: phones and what they have sent and received.
create table phones (
  network text not null,
  number text not null,
  name text not null,
  imessage bigint not null,
  rcs bigint not null,
  power bigint not null,
  read_receipts bigint not null,
  refuses bigint not null,
  created_at bigint not null,
  primary key (network, number)
);

create table phone_messages (
  id integer primary key autoincrement, -- only: sqlite
  id bigint generated always as identity primary key, -- only: postgres
  network text not null,
  phone text not null,
  line_id text not null,
  line_number text not null,
  from_phone bigint not null,
  provider_id text not null,
  ref text,
  handle text,
  content text not null,
  media_url text not null,
  send_style text not null,
  reply_to text,
  service text not null,
  created_at bigint not null,
  arrived_at bigint,
  read_at bigint,
  due_at bigint
);
create unique index phone_messages_ref on phone_messages (ref) where ref is not null;
create index phone_messages_phone on phone_messages (network, phone, id);
create index phone_messages_due on phone_messages (line_id, due_at) where due_at is not null;
