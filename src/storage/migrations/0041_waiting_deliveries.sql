-- The waiting deliveries of an account, for its budget.
create index webhook_deliveries_waiting on webhook_deliveries (account_id, id) where next_at is not null;
