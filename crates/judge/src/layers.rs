//! Above or below the storage engine: the layer of a function, by its name.
//!
//! Names are those of symbol tables, without parameters. The table is by family, the first entry
//! that a name begins with has it; what none has is told as such. Layers follow the books of the
//! makers: MySQL's internals manual (parser, optimizer, executor, handler, InnoDB, Vio), and the
//! directories of PostgreSQL's backend.

use dbdyno_model::Dialect;

/// A layer of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    Parse,
    Optimize,
    Execute,
    Tables,
    Storage,
    Log,
    Network,
    Memory,
    Instruments,
    Library,
    Nameless,
    Unknown,
}

impl Layer {
    pub(crate) const ALL: [Layer; 12] = [
        Layer::Parse,
        Layer::Optimize,
        Layer::Execute,
        Layer::Tables,
        Layer::Storage,
        Layer::Log,
        Layer::Network,
        Layer::Memory,
        Layer::Instruments,
        Layer::Library,
        Layer::Nameless,
        Layer::Unknown,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Layer::Parse => "parse",
            Layer::Optimize => "optimize",
            Layer::Execute => "execute",
            Layer::Tables => "open and lock tables",
            Layer::Storage => "storage engine",
            Layer::Log => "logs",
            Layer::Network => "network",
            Layer::Memory => "memory",
            Layer::Instruments => "instruments",
            Layer::Library => "C library",
            Layer::Nameless => "without a name in the program",
            Layer::Unknown => "not mapped to a layer",
        }
    }
}

/// A layer, and how the names of its functions begin.
type Entry = (Layer, &'static str);

const MYSQL: [Entry; 10] = [
    (Layer::Instruments, "pfs_ PFS_ inline_mysql_ end_statement_v start_statement_v"),
    (
        Layer::Parse,
        "MYSQLparse MYSQLlex my_sql_parser ORAparse Lex_ LEX:: lex_ st_lex Lex_input \
         parse_sql PT_ digest_ find_keyword Lex_hash",
    ),
    (
        Layer::Optimize,
        "JOIN::optimize JOIN::make_ JOIN::exec_prep JOIN::init JOIN::prepare make_join \
         optimize_ Optimize_ Optimizer test_quick_select get_mm_ SEL_ QUICK_ get_quick \
         get_key_scans check_quick find_best best_access choose_ Cost_ calculate_ substitute_ \
         build_equal propagate_cond handler::multi_range_read_info \
         ha_innobase::records_in_range update_ref create_ref get_best opt_sum \
         SELECT_LEX::optimize Query_block::optimize key_or key_and tree_or tree_and sel_arg \
         sel_cmp Sel_arg RANGE_OPT sql_optimizer",
    ),
    (
        Layer::Tables,
        "MDL_ open_table open_tables open_and_ close_thread_tables lock_tables mysql_lock \
         mysql_unlock Table_cache get_lock_data thr_lock thr_multi check_table_access \
         check_grant tdc_ TDC_ acl_ Locked_tables",
    ),
    (
        Layer::Log,
        "binlog Binlog MYSQL_BIN_LOG THD::binlog log_write log_buffer log_reserve log_append \
         log_flush Log_event mlog_ mtr_t::commit mtr_commit log_t trx_undo trx_purge \
         general_log log_slow slow_log",
    ),
    (
        Layer::Storage,
        "btr_ buf_ row_ rec_ page_ mtr_ lock_ trx_ dict_ fil_ fsp_ ha_innobase ha_innodb \
         innobase_ innodb_ ibuf_ mem_heap mem_block ut_ cmp_ dtuple_ dfield_ que_ read_view \
         ReadView mach_ data_ rw_lock sync_ mutex_ ha_search ha_insert ha_delete hash_ eval_ \
         pars_ flst_ os_ srv_ sux_lock ssux_ srw_ Btree PolicyMutex TTASEventMutex \
         RecIterator convert_search build_template lob:: undo:: MVCC dtype_ end_range \
         BtrContext buf_block Buf_fetch page_cur",
    ),
    (
        Layer::Network,
        "Protocol net_ vio_ my_net Vio Send_field Query_result_send select_send Ed_connection \
         packet_ store_length",
    ),
    (
        Layer::Memory,
        "MEM_ROOT alloc_root free_root my_malloc my_free malloc free calloc _int_malloc \
         _int_free operator __libc_malloc realloc init_alloc reset_root tc_ tcmalloc cfree \
         multi_alloc unlink_chunk",
    ),
    (
        Layer::Library,
        "mem __mem str __str _dl_ pthread_ __pthread std:: __gnu qsort my_qsort clock_gettime \
         gettimeofday __tls bcmp __GI timespec my_hash my_strn my_charset my_mb my_lengthsp \
         my_hash_sort cs_ my_timer microsecond my_micro my_time",
    ),
    (
        Layer::Execute,
        "Item Field JOIN evaluate_ sub_select do_select end_send handler:: filesort Filesort \
         Query_ RowIterator Iterator IndexRange TableScan EQRef Const st_select SELECT_LEX \
         mysql_ Prepared_ dispatch_ do_command THD Sql_cmd Statement handle_ execute_ DsMrr \
         Mrr copy_ key_ QEP_ read_record rr_ join_ init_read TABLE List Diagnostics setup_ \
         fix_ reset_ free_items cleanup_ Query_block Query_expression AggregateIterator \
         FilterIterator NestedLoop LimitOffset Sort Temptable Protocol_statement set_ store_ \
         ha_rollback ha_commit trans_ Security_ sp_ Arg_ Bounds base_list bitmap_ sql_ find_ \
         check_ compare_",
    ),
];

const POSTGRES: [Entry; 9] = [
    (
        Layer::Parse,
        "base_yy core_yy raw_parser transform parse_ parserOpen scanner_ ScanKeyword pg_parse \
         pg_analyze makeColumnRef make_var colNameToVar",
    ),
    (
        Layer::Optimize,
        "planner standard_planner subquery_planner create_ cost_ set_ make_one query_planner \
         grouping_planner build_ match_ clauselist clause_ get_relation_info eval_const \
         preprocess_ pull_ add_path estimate_ choose_custom GetCachedPlan \
         RevalidateCachedQuery generate_ deconstruct_ plan_ extract_ get_index btcostestimate \
         genericcost fix_ expression_",
    ),
    (
        Layer::Execute,
        "Exec standard_Executor Portal exec_ InitPlan MakeTuple tts_ slot_ agg tuplesort \
         advance_ CreateExecutor FreeExecutor exec_simple Create PostgresMain int4 int8 \
         bpchar text hash datum FunctionCall fmgr DirectFunction OutputFunction btint \
         GetSnapshotData PushActive PopActive",
    ),
    (
        Layer::Tables,
        "Lock relation_open relation_close table_open RelationGet RelationId SearchCatCache \
         SearchSysCache ReleaseCatCache CatalogCache AcquireExecutor Resource RangeVar \
         aclmask pg_class_acl object_acl get_rel",
    ),
    (Layer::Log, "XLog xlog WAL CopyXLog GetXLog RecordTransaction"),
    (
        Layer::Storage,
        "_bt bt heap index Buf ReadBuffer ReleaseBuffer PinBuffer Unpin LWLock LockBuffer \
         Heap visibilitymap TransactionId XidIn mdread smgr page Page pgstat IndexNext \
         nocachegetattr table_ SubTrans Transam Start Commit ProcArray systable sys \
         GetCurrent tid_",
    ),
    (
        Layer::Network,
        "pq_ socket_ internal_ secure_ printtup be_ SendRow ReadyForQuery EndCommand \
         BeginCommand enlargeString appendBinary resetString",
    ),
    (
        Layer::Memory,
        "Alloc palloc pfree MemoryContext repalloc malloc free _int_malloc _int_free new_ \
         lappend list_ copyObject bms_ GetMemoryChunk",
    ),
    (
        Layer::Library,
        "mem __mem str __str pg_ clock_gettime qsort _dl_ sigsetjmp __sig gettimeofday hash_ \
         tag_hash uint32_hash",
    ),
];

/// Libraries whose functions need no names, by how their files begin.
const LIBRARIES: [(&str, Layer); 9] = [
    ("libc.", Layer::Library),
    ("libc-", Layer::Library),
    ("libm", Layer::Library),
    ("libstdc++", Layer::Library),
    ("libpthread", Layer::Library),
    ("ld-linux", Layer::Library),
    ("libtcmalloc", Layer::Memory),
    ("libjemalloc", Layer::Memory),
    ("libssl", Layer::Network),
];

/// The layer of a function in a program or library; an empty name is that of what has none.
pub(crate) fn layer_of(dialect: Dialect, name: &str, object: &str) -> Layer {
    let table: &[Entry] = match dialect {
        Dialect::Mysql => &MYSQL,
        Dialect::Postgres => &POSTGRES,
        Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => &[],
    };
    let plain = name.strip_prefix("(anonymous namespace)::").unwrap_or(name);
    let has = |forms: &str| forms.split(' ').any(|form| plain.starts_with(form));
    let by_name = table.iter().find(|(_, forms)| has(forms)).map(|(layer, _)| *layer);
    let unknown = if plain.is_empty() { Layer::Nameless } else { Layer::Unknown };
    by_name
        .or_else(|| LIBRARIES.iter().find(|(file, _)| object.starts_with(file)).map(|(_, of)| *of))
        .unwrap_or(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_the_layer_that_their_makers_give_them() {
        use Layer::{
            Execute, Instruments, Library, Log, Memory, Nameless, Network, Optimize, Parse,
            Storage, Tables, Unknown,
        };
        for (name, layer) in [
            ("btr_cur_search_to_nth_level", Storage),
            ("row_search_mvcc", Storage),
            ("ha_innobase::index_read", Storage),
            ("MYSQLparse", Parse),
            ("JOIN::optimize", Optimize),
            ("JOIN::exec", Execute),
            ("Item_func_eq::val_int", Execute),
            ("MDL_context::acquire_lock", Tables),
            ("Protocol_classic::send_result_set_row", Network),
            ("net_write_packet", Network),
            ("pfs_start_table_io_wait_v1", Instruments),
            ("MYSQL_BIN_LOG::commit", Log),
            ("alloc_root", Memory),
            ("memcpy", Library),
            ("zlib_inflate", Unknown),
            ("", Nameless),
        ] {
            assert_eq!(layer_of(Dialect::Mysql, name, "mysqld"), layer, "{name}");
        }
        for (name, layer) in [
            ("_bt_compare", Storage),
            ("heap_getnextslot", Storage),
            ("base_yyparse", Parse),
            ("cost_index", Optimize),
            ("ExecInterpExpr", Execute),
            ("LockAcquireExtended", Tables),
            ("XLogInsert", Log),
            ("pq_putmessage", Network),
            ("AllocSetAlloc", Memory),
            ("memcpy", Library),
        ] {
            assert_eq!(layer_of(Dialect::Postgres, name, "postgres"), layer, "{name}");
        }
        assert_eq!(layer_of(Dialect::Mysql, "", "libc.so.6"), Library);
        assert_eq!(layer_of(Dialect::Sqlite, "sqlite3VdbeExec", "dbdyno"), Unknown);
    }
}
