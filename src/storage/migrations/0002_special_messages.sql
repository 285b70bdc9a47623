-- What only some messages have (carousel, app card, location …), as JSON; null for an ordinary text.
alter table messages add column extra text;
-- Hidden from lists and look-ups by its account; kept for receipts and for telling repeats.
alter table messages add column deleted_at bigint;
alter table phone_messages add column extra text;

-- Something a line is asked to do at once, by a process that does not drive it (PostgreSQL).
create table line_actions (
  id text primary key,
  line_id text not null,
  method text not null,
  argument text not null,
  outcome text,
  created_at bigint not null,
  expires_at bigint not null
);
create index line_actions_open on line_actions (line_id, id) where outcome is null;
create index line_actions_expiry on line_actions (expires_at);
