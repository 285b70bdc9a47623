-- Faults that an account has switched on in its simulated world.
create table sim_faults (
  account_id text not null,
  name text not null,
  line_id text,
  phone text,
  probability text not null,
  -- How many messages it will still happen to; null: without end.
  remaining bigint,
  seed bigint not null,
  drawn bigint not null,
  hits bigint not null,
  parameters text not null,
  created_at bigint not null,
  primary key (account_id, name)
);
