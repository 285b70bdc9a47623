-- Somebody signed in at the console: what their cookie stands for. A session is never wider than its keys and dies
-- with them. Its times are the machine's: a person's visit does not end because the simulated world's clock moved.
create table console_sessions (
  id text primary key,
  secret_hash text not null,
  account_key_id text references keys (id),
  admin_key_id text references keys (id),
  created_at bigint not null,
  used_at bigint not null,
  expires_at bigint not null
);
create index console_sessions_expiry on console_sessions (expires_at);

-- What the phones of a group chat show between its messages: how it was after each change, and who made it.
create table phone_group_changes (
  chat_id text not null,
  version bigint not null,
  actor text not null,
  name text,
  photo_url text,
  members text not null,
  at bigint not null,
  primary key (chat_id, version)
);
