-- How a line is, as the process that drives it last said. The epoch is the lease it said so under: another
-- one's word is old.
create table line_states (
  line_id text primary key references lines (id),
  state text not null check (state in ('ONLINE', 'DEGRADED', 'OFFLINE', 'UNKNOWN')),
  detail text,
  changed_at bigint not null,
  degraded_since bigint,
  epoch bigint not null
);

-- Where calls to a line go on to: to the seat the line is assigned to, else to the line's number, else to the
-- company's.
alter table lines add column seat_id text;
alter table lines add column forwarding_number text;
alter table seats add column forwarding_number text;
alter table accounts add column default_forwarding_number text;
create index seats_list on seats (account_id, created_at, id) where removed_at is null;

create table blocked_callers (
  account_id text not null references accounts (id),
  number text not null,
  blocked_at bigint not null,
  primary key (account_id, number)
);

-- A call lives while due_at is set or it is answered; its event is written in the transaction that ends it.
create table calls (
  id text primary key,
  network text not null,
  line_id text not null,
  line_number text not null,
  account_id text,
  caller text not null,
  forwarded_to text,
  state text not null check (state in ('ringing', 'answered', 'ended', 'turned_away')),
  outcome text,
  created_at bigint not null,
  answered_at bigint,
  ended_at bigint,
  due_at bigint,
  check ((state = 'ringing') = (due_at is not null)),
  check ((state = 'ended') = (outcome is not null))
);
create index calls_caller on calls (network, caller, id);
create index calls_forwarded on calls (network, forwarded_to, id) where forwarded_to is not null;
create index calls_due on calls (line_id, due_at) where due_at is not null;
create index calls_open on calls (line_id) where ended_at is null;

-- A phone can also be reached under an e-mail address, as its owner's other devices can.
alter table phones add column email text;
create index phones_email on phones (network, email) where email is not null;
