INSERT INTO s VALUES ( 3 , 3 , 3 , 'three' )
UPDATE t SET k = k + 1 , c = concat ( c , 'x' ) WHERE id = 2
UPDATE s SET b = b + 10 WHERE a IN ( 1 , 2 )
