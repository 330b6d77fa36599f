-- Version 5: what comparisons of an arm with itself concluded. Never change it once it is released.

CREATE TABLE self_test (
  run     INTEGER NOT NULL REFERENCES run,
  load    TEXT    NOT NULL,
  clients INTEGER NOT NULL,
  verdict TEXT    NOT NULL,  -- slower | equal | faster | undecided
  PRIMARY KEY (run, load, clients)
) STRICT, WITHOUT ROWID;
