-- A call may also go out: then the line calls, and the number that rings stands where an inbound call goes on to.
alter table calls add column direction text not null default 'inbound' check (direction in ('inbound', 'outbound'));
alter table calls add column voicemail integer not null default 0;
-- Who placed it.
alter table calls add column sent_by text;
create index calls_outbound on calls (account_id, id) where direction = 'outbound';

-- Since when a line may send nothing. What waits on such lines is found from here.
alter table lines add column blocked_at bigint;
create index lines_blocked on lines (id) where blocked_at is not null;
