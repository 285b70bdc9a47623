-- Lists of an account, newest first: ids grow with time. Both tables are written seldom.
create index tokens_account on tokens (account_id, id);
create index calls_account on calls (account_id, id) where account_id is not null;
