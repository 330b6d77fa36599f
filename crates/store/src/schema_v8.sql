-- Version 8: more than two arms. Never change it once it is released.

-- From here on arms are called base, test, test2, …, test11; rounds of each stand beside those of
-- base with the same pair.
ALTER TABLE arm ADD COLUMN ended TEXT;  -- why it ended before the run did; NULL: it did not

CREATE TABLE counted_of_arms (
  run          INTEGER NOT NULL REFERENCES run,
  load         TEXT    NOT NULL,
  arm          TEXT    NOT NULL,
  repeat       INTEGER NOT NULL,
  operations   INTEGER NOT NULL,  -- statements
  instructions INTEGER NOT NULL,
  PRIMARY KEY (run, load, arm, repeat)
) STRICT, WITHOUT ROWID;

INSERT INTO counted_of_arms SELECT * FROM counted;
DROP TABLE counted;
ALTER TABLE counted_of_arms RENAME TO counted;

CREATE TABLE counted_function_of_arms (
  run              INTEGER NOT NULL REFERENCES run,
  load             TEXT    NOT NULL,
  arm              TEXT    NOT NULL,
  name             TEXT    NOT NULL,  -- empty: what has no name in that object
  object           TEXT    NOT NULL,  -- program or library
  own_per_op       REAL    NOT NULL,
  inclusive_per_op REAL    NOT NULL,
  PRIMARY KEY (run, load, arm, name, object)
) STRICT, WITHOUT ROWID;

INSERT INTO counted_function_of_arms SELECT * FROM counted_function;
DROP TABLE counted_function;
ALTER TABLE counted_function_of_arms RENAME TO counted_function;
