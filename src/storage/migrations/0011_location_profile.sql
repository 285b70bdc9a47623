-- The last place of each person that a line has told us: shown, with the reason, when a fresh one cannot be had.
create table location_fixes (
  line_id text not null,
  number text not null,
  fix text not null,
  primary key (line_id, number)
);

-- The simulator's other side: which phones share their place with which lines. No place yet: null.
create table sim_locations (
  line_id text not null,
  phone text not null,
  network text not null,
  place text,
  at bigint not null,
  expires_at bigint,
  primary key (line_id, phone)
);
create index sim_locations_phone on sim_locations (network, phone);

-- Requests to share a place that a phone got and has not answered. `ref` is the message's.
create table sim_location_requests (
  line_id text not null,
  phone text not null,
  ref text not null,
  primary key (line_id, phone)
);

-- Changes of the name and photo a line shows. One at a time per line, in order; open while done_at is null.
create table profile_requests (
  id text primary key,
  account_id text not null,
  line_id text not null,
  line_number text not null,
  change text not null,
  -- Name and photo as this change leaves them, if all goes well.
  card text not null,
  operation_id text,
  attempts bigint not null,
  next_at bigint not null,
  requested_at bigint not null,
  done_at bigint,
  error_code text
);
create index profile_requests_good on profile_requests (line_id, id) where error_code is null;
create index profile_requests_open on profile_requests (line_id, id) where done_at is null;

-- When a line's name and photo were last given to a person; shared_at is null while that is under way.
create table profile_shares (
  line_id text not null,
  number text not null,
  asked_at bigint not null,
  shared_at bigint,
  primary key (line_id, number)
);

-- The simulator's other side: the lines' names and photos, and the copies that phones were given.
create table sim_profiles (
  line_id text primary key,
  card text not null
);

create table sim_cards (
  line_id text not null,
  phone text not null,
  network text not null,
  card text not null,
  at bigint not null,
  primary key (line_id, phone)
);
create index sim_cards_phone on sim_cards (network, phone);
