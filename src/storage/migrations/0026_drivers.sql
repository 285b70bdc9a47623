-- Carriers begin their counting anew now and then: an id may name two messages, and then the later one is meant.
drop index attempts_provider;
create index attempts_provider on attempts (line_id, provider_id) where provider_id is not null;

-- The parts of a send that the carrier took in parts, each with an id and a fate of its own.
create table attempt_parts (
  ref text not null,
  n bigint not null,
  line_id text not null,
  provider_id text not null,
  status text not null,
  detail text,
  primary key (ref, n)
);
create index attempt_parts_provider on attempt_parts (line_id, provider_id);

-- How far a line's driver has read at its carrier.
create table line_cursors (
  line_id text primary key,
  value text not null
);
