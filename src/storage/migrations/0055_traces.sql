-- The trace context that a caller sent with a message, as in the header traceparent.
alter table messages add column trace text;
