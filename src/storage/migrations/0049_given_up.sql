-- Sends whose outcome stayed unknown: a carrier may still report on them, among thousands of sends that it accepted.
create index attempts_given_up on attempts (line_id, ref) where state = 'given_up';
