-- Worlds replace snapshots.
drop table sim_snapshot_parts;
drop table sim_snapshots;
