-- Fences the results of webhook posts by a process that lost its shard.
alter table webhook_shards add column epoch bigint not null default 0;
