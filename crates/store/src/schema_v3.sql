-- Version 3: tables that are filled several times, and the interval that was asked for. Never change
-- this file once it is released.

ALTER TABLE run ADD COLUMN reloads INTEGER NOT NULL DEFAULT 0;  -- of the tables, within a cell
ALTER TABLE run ADD COLUMN interval TEXT NOT NULL DEFAULT 'auto';  -- auto | t | robust | …
ALTER TABLE round ADD COLUMN filling INTEGER NOT NULL DEFAULT 0;  -- how often filled anew by then
