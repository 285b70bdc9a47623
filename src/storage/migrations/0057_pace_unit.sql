-- A phone sends so many messages an hour, not a second.
alter table lines add column pace_unit text not null default 'second';
