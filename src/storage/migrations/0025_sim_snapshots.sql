-- Simulated worlds as they were at a moment, to go back to.
create table sim_snapshots (
  id text primary key,
  account_id text not null,
  name text not null,
  -- The schema it was saved under: rows of another one cannot be put back.
  schema_name text not null,
  rows bigint not null,
  created_at bigint not null
);
create unique index sim_snapshots_name on sim_snapshots (account_id, name);

-- Their rows, many of one table together, as JSON.
create table sim_snapshot_parts (
  snapshot_id text not null,
  n bigint not null,
  table_name text not null,
  rows text not null,
  primary key (snapshot_id, n)
);
