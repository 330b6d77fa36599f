-- Version 4: what plans say beside the columns of run. Never change it once it is released.

CREATE TABLE plan_term (
  run   INTEGER NOT NULL REFERENCES run,
  name  TEXT    NOT NULL,  -- store::terms has the names; one that is not there has its usual value
  value TEXT    NOT NULL,
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;
