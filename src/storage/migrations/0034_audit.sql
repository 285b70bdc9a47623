-- Who changed what, outside the life of a message. Rows are only appended; each hash covers the row and the hash of the
-- row before it, so a changed or missing row shows. Rows refer to nothing: they outlive the accounts they are about.
create table audit_log (
  seq bigint primary key,
  at bigint not null,
  actor text not null,
  actor_id text,
  key_id text,
  account_id text,
  seat_id text,
  address text,
  forwarded_for text,
  action text not null,
  object text,
  fields text,
  status bigint,
  hash text not null
);
create index audit_log_at on audit_log (at, seq);
create index audit_log_account on audit_log (account_id, seq);
create index audit_log_key on audit_log (key_id, seq);
create index audit_log_action on audit_log (action, seq);
create index audit_log_object on audit_log (object, seq);

-- Changes that have begun: written before the change, removed in the transaction that appends its row to the log.
create table audit_open (
  id text primary key,
  begun_at bigint not null,
  entry text not null
);
create index audit_open_begun on audit_open (begun_at);

-- One row: the newest row of the log, and the last row that retention has removed.
create table audit_ends (
  seq bigint not null,
  hash text not null,
  pruned_seq bigint not null,
  pruned_hash text not null
);
insert into audit_ends (seq, hash, pruned_seq, pruned_hash) values (0, '', 0, '');
