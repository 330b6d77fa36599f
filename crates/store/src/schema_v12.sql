-- Version 12: which home began a run. Never change it once it is released.

-- A run without a row was begun by an earlier release, or by somebody else.
CREATE TABLE seal (
  run  INTEGER PRIMARY KEY REFERENCES run,
  hmac BLOB    NOT NULL  -- SHA-256, of what the run would carry out, under the key of the home
) STRICT;
