-- Deleted messages whose text is still to be erased: hardly any.
create index messages_unerased on messages (updated_at) where deleted_at is not null and next_action_at is null
  and (content <> '' or media_url <> '' or extra is not null or error_detail is not null);
