-- Android phones that dial in, each with a token of its own.
create table paired_phones (
  id text primary key,
  -- Maker and model, as the app tells them.
  name text not null default '',
  -- JSON: the SIM cards that the app tells of.
  sims text not null default '[]',
  created_at bigint not null,
  -- Null until a phone has used the pairing code.
  registered_at bigint,
  secret_hash text,
  -- A keyed digest of the pairing code, while there is one.
  code_digest text,
  code_expires_at bigint
);
create unique index paired_phones_code on paired_phones (code_digest) where code_digest is not null;

-- The lines of a phone. `sim` is null where Android chooses.
create table phone_lines (
  line_id text primary key,
  phone_id text not null,
  sim bigint
);
create index phone_lines_phone on phone_lines (phone_id);
