-- When its recipient read what was sent: it is told once, however often the carrier says so.
alter table attempts add column read_at bigint;
