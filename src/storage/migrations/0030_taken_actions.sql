-- What another process asked of a line is taken once: one that takes long is not begun again by the next look.
alter table line_actions add column taken_at bigint;
drop index line_actions_open;
create index line_actions_open on line_actions (line_id, id) where taken_at is null;
