-- When a key ends that another has replaced.
alter table keys add column expires_at bigint;
create index keys_expiring on keys (expires_at) where expires_at is not null and revoked_at is null;
