-- How far the clock of a simulated world was moved ahead, so that a restart does not set it back. At most one row.
create table sim_clock (
  id integer primary key,
  ahead_ms bigint not null
);
