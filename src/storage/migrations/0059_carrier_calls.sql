-- The carrier's id of a call to a real line; a simulated call has none.
alter table calls add column provider_id text;
create unique index calls_provider on calls (line_id, provider_id) where provider_id is not null;
-- Calls whose end a carrier has not reported, oldest first.
create index calls_unended on calls (created_at) where ended_at is null and provider_id is not null;
