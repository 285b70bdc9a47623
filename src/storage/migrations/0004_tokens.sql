-- Short-lived bearer tokens. A token is no wider than the key that made it and dies with it.
create table tokens (
  id text primary key,
  account_id text not null references accounts (id),
  key_id text not null references keys (id),
  secret_hash text not null,
  -- JSON list of the lines' numbers it is confined to; null: all lines of the account.
  numbers text,
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint
);
create index tokens_expiry on tokens (expires_at);

-- Lists never show a deleted message, so their indexes do not hold it either: a list behind a thousand deleted
-- messages costs what it cost before. The others stay whole: repeats and replies are told by them.
drop index messages_created;
create index messages_created on messages (account_id, created_at) where deleted_at is null; -- only: sqlite
create index messages_created on messages (account_id, created_at, id) where deleted_at is null; -- only: postgres
drop index messages_updated;
create index messages_updated on messages (account_id, updated_at) where deleted_at is null; -- only: sqlite
create index messages_updated on messages (account_id, updated_at, id) where deleted_at is null; -- only: postgres
drop index messages_sent;
create index messages_sent on messages (account_id, sent_at) where deleted_at is null; -- only: sqlite
create index messages_sent on messages (account_id, sent_at, id) where deleted_at is null; -- only: postgres
drop index messages_line;
create index messages_line on messages (account_id, line_id, is_outbound, created_at) where deleted_at is null; -- only: sqlite
create index messages_line on messages (account_id, line_id, is_outbound, created_at, id) where deleted_at is null; -- only: postgres
drop index messages_status;
create index messages_status on messages (account_id, status, created_at) where deleted_at is null; -- only: sqlite
create index messages_status on messages (account_id, status, created_at, id) where deleted_at is null; -- only: postgres
