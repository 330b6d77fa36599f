# The steps of connectors.rs by Perl: ask.pl DRIVER PREPARED PORT USER PASSWORD DATABASE
use strict;
use warnings;
use utf8;
use DBI;

binmode STDOUT, ':utf8';
my ($driver, $prepared, $port, $user, $password, $database) = @ARGV;
my $prefix = lc $driver;

my $columns = "(`id` BIGINT NOT NULL AUTO_INCREMENT, `c` VARCHAR(20) COMMENT 'text', "
  . "d DECIMAL(6,2), at DATETIME(6), day DATE, n INT, PRIMARY KEY (`id`), KEY (`n`)) "
  . "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='asked'";

sub step {
  my ($name, $steps) = @_;
  eval { $steps->(); 1 } or do { print "$name: $@"; exit 1 };
  print "did $name\n";
}

sub same {
  my ($expected, $got) = @_;
  $got = 'undef' unless defined $got;
  die "$expected expected, got $got\n" unless $expected eq $got;
}

my %how = (RaiseError => 1, PrintError => 0, AutoCommit => 1);
$how{"${prefix}_server_prepare"} = $prepared;
$how{mysql_enable_utf8mb4} = 1 if $driver eq 'mysql';
my $place = "dbi:$driver:database=$database;host=127.0.0.1;port=$port";
my $db = DBI->connect($place, $user, $password, \%how);

sub value { return scalar $db->selectrow_array(@_) }

sub refused {
  my ($sql, @values) = @_;
  return eval { $db->do($sql, undef, @values); 1 } ? 0 : $db->err;
}

step 'create', sub {
  $db->do('DROP TABLE IF EXISTS ask');
  $db->do("CREATE TABLE `$database`.`ask` $columns");
};
step 'insert', sub {
  my @row = ('café ж', '-1.50', '2026-11-25 19:30:00.123456', '2026-11-25', 7);
  $db->do('INSERT INTO ask (c, d, at, day, n) VALUES (?, ?, ?, ?, ?)', undef, @row);
  same(1, $db->last_insert_id(undef, undef, 'ask', 'id'));
  my @got = $db->selectrow_array('SELECT c, d, at, day, n FROM ask WHERE id = ?', undef, 1);
  same(join('|', @row), join('|', @got));
};
step 'savepoint', sub {
  $db->{AutoCommit} = 0;
  $db->do('SAVEPOINT a');
  $db->do("INSERT INTO ask (c) VALUES ('x')");
  $db->do('ROLLBACK TO SAVEPOINT a');
  $db->commit;
  $db->{AutoCommit} = 1;
  same(1, value('SELECT count(*) FROM ask'));
};
step 'transactions', sub {
  $db->begin_work;
  $db->do("INSERT INTO ask (c) VALUES ('x')");
  $db->rollback;
  same(1, value('SELECT count(*) FROM ask'));
  $db->do('START TRANSACTION READ ONLY');
  same(1792, refused("INSERT INTO ask (c) VALUES ('x')"));
  $db->do('ROLLBACK WORK');
  $db->do('BEGIN WORK');
  $db->do('COMMIT WORK');
  $db->do('START TRANSACTION READ WRITE, WITH CONSISTENT SNAPSHOT');
  $db->do('COMMIT AND NO CHAIN');
};
step 'refusals', sub {
  same(1292, refused('INSERT INTO ask (day) VALUES (?)', 'hello'));
  same(1062, refused('INSERT INTO ask (id) VALUES (?)', 1));
  same(1146, refused('DELETE FROM nowhere'));
};
step 'coalesce', sub {
  my $sql = 'SELECT COALESCE(n, 0), IFNULL(d, 0) FROM ask WHERE id = ?';
  my @got = $db->selectrow_array($sql, undef, 1);
  same('7|-1.50', join('|', @got));
};
step 'catalogue', sub {
  my @tables = $db->tables(undef, $database, 'ask', 'TABLE');
  same("`$database`.`ask`", $tables[0]);
  my $columns = $db->column_info(undef, $database, 'ask', '%');
  same('id', $columns->fetchrow_hashref->{COLUMN_NAME});
  same('id', join(',', $db->primary_key(undef, $database, 'ask')));
  my $full = $db->prepare('SHOW FULL COLUMNS FROM ask');
  $full->execute;
  my $names = 'Field Type Collation Null Key Default Extra Privileges Comment';
  same($names, join(' ', @{ $full->{NAME} }));
  $full->finish;
};
same(1, $db->ping ? 1 : 0);
$db->disconnect;
print "all is well\n";
