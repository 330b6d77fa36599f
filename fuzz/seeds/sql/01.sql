SELECT k , sum ( p ) , avg ( k ) , count ( DISTINCT c ) FROM t GROUP BY k HAVING k > 0
SELECT max ( k ) , min ( d ) FROM t WHERE c LIKE 'a%' AND NOT p IS NULL
SELECT x . id , y . n FROM t x LEFT JOIN s y ON y . t_id = x . id AND y . a > 1 WHERE k > 0
