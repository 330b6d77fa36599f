SELECT ( SELECT max ( n ) FROM s WHERE t_id = t . id ) , coalesce ( k , p , 0 ) FROM t
SELECT abs ( - k ) , length ( c ) , lower ( c ) , concat ( c , p ) , ifnull ( k , 1 ) FROM t
SELECT k / p , k % 3 , p * p , k - id , now ( ) FROM t FORCE INDEX ( k_1 ) WHERE k > - 1
