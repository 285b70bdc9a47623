-- Requests to erase a person, and how far each is.
create table erasures (
  id text primary key,
  -- Null: in every account.
  account_id text,
  -- The phone number or e-mail address; null once it is erased.
  person text,
  -- What is kept of it for people to recognise: its last digits, or that it was an e-mail address.
  hint text not null,
  -- running, waiting (for a message or call under way) or done.
  state text not null,
  -- The step that is next, and its place in it as JSON.
  step text not null,
  place text not null,
  -- JSON: rows by kind.
  counts text not null,
  requested_at bigint not null,
  -- When a process goes on with it; null once it is done.
  due_at bigint,
  finished_at bigint
);
create index erasures_due on erasures (due_at) where due_at is not null;

-- Media of erased messages, until it is known that no other message shows it.
create table erasure_media (
  erasure_id text not null,
  name text not null,
  primary key (erasure_id, name)
);

-- The sealed key of the marks that stand in for erased people. One row, made by the first erasure.
create table erasure_keys (
  id text primary key,
  account_id text not null,
  kid text not null,
  sealed text not null
);
create index erasure_keys_kid on erasure_keys (kid, id);
