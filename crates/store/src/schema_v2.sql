-- Version 2: what each class of a round did. Never change this file once it is released.

CREATE TABLE class (
  round    INTEGER NOT NULL REFERENCES round,
  position INTEGER NOT NULL,
  name     TEXT    NOT NULL,  -- in series: class:NAME; in histogram: class_latency_ns:NAME
  counted  TEXT    NOT NULL,  -- events | statements
  count    INTEGER NOT NULL,
  PRIMARY KEY (round, position),
  UNIQUE (round, name)
) STRICT, WITHOUT ROWID;
