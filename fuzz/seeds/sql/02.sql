SELECT count ( * ) FROM t o STRAIGHT_JOIN t i ON i . id = o . k WHERE o . id < 9
SELECT id FROM t WHERE k IN ( SELECT a FROM s WHERE t_id = id ) OR k NOT IN ( 1 , NULL )
SELECT d . k FROM ( SELECT k , count ( * ) AS n FROM t GROUP BY k ) d WHERE d . n >= 1
