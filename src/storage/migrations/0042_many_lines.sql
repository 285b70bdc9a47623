-- A node renews one row for all of its lines: a lease without a date lasts as long as its node beats.
alter table nodes add column lease_ms bigint not null default 15000;
create index line_leases_node on line_leases (node_id);
-- Real lines are found without reading the simulated ones.
create index lines_real on lines (id) where driver <> 'simulator' and removed_at is null;
-- A send finds its line by number among any number of lines of the account.
drop index lines_account;
create index lines_account on lines (account_id, number);
