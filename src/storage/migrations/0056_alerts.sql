-- Conditions of accounts that have begun and were told. The row is written and removed with the event that tells it.
create table alerts (
  account_id text not null,
  -- The type of its events, such as line.offline.
  kind text not null,
  -- Id of the line or webhook; the name of the budget.
  subject text not null,
  -- Since when the condition has lasted, and when it was told.
  since bigint not null,
  began_at bigint not null,
  -- JSON: what its events say of it.
  facts text not null,
  primary key (account_id, kind, subject)
);
create index alerts_kind on alerts (kind, subject, account_id);

-- Webhooks whose last post failed. The next success removes the row, so a healthy webhook has none.
create table webhook_faults (
  endpoint_id text primary key,
  account_id text not null,
  -- The first of the posts that failed one after the other, and their number.
  since bigint not null,
  failures bigint not null,
  -- Of the last one.
  http_status bigint,
  reason text not null
);
create index webhook_faults_since on webhook_faults (since);
create index webhook_faults_account on webhook_faults (account_id);

-- Lines that are offline, without reading the others.
create index line_states_offline on line_states (changed_at, line_id) where state = 'OFFLINE';
