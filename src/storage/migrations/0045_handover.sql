-- Fences the results of webhook posts by a process that lost its shard.
alter table webhook_shards add column epoch bigint not null default 0;
-- A process that stops gets no share of the work, but keeps its leases until the work under way is stored.
alter table nodes add column leaving integer not null default 0;
