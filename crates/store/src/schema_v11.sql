-- Version 11: notes on the method that whoever uses this store has been shown. Never change it once it is released.

CREATE TABLE shown_note (
  code TEXT PRIMARY KEY  -- of the warning, as in table warning
) STRICT, WITHOUT ROWID;
