-- Version 9: trials. Never change it once it is released.

-- Runs that were made to explain another one: each has arms in which differences of the explained
-- run were made equal. They are hidden where runs are listed.
CREATE TABLE trial (
  run      INTEGER NOT NULL PRIMARY KEY REFERENCES run,
  explains INTEGER NOT NULL REFERENCES run,
  witness  TEXT    NOT NULL                            -- instructions | rate
) STRICT;
