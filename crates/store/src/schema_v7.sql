-- Version 7: both rounds of a pair in slices. Never change it once it is released.

ALTER TABLE run ADD COLUMN slice_ns INTEGER NOT NULL DEFAULT 0;  -- 0: one round after the other
