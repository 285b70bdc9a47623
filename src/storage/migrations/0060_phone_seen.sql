-- When a paired phone last called, to the minute. Null until it has.
alter table paired_phones add column seen_at bigint;
