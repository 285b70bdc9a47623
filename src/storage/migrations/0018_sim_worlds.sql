-- How often the simulated world that a line is in was begun anew. What started in an earlier one writes nothing more.
alter table lines add column resets bigint not null default 0;
-- Always empty: an insert that fails keeps back what must not be written any more.
create table stale_writes (line_id text not null);

-- Whose phone it is, when an account made it; phones that were only written to belong to nobody.
alter table phones add column account_id text;

-- Everything of an account, or of a line, is found by it.
create index calls_line on calls (line_id);
create index group_chats_account on group_chats (account_id);
create index profile_requests_line on profile_requests (line_id);
create index media_account on media (account_id);
create index verify_services_all on verify_services (account_id);
