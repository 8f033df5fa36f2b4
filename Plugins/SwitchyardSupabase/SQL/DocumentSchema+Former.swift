extension DocumentSchema {
    /// Functions that earlier versions had, by their part. A name may be one that this version has with other arguments.
    static let former: [(part: String, name: String)] =
        [
            "readable", "access_indexes", "document_json", "parts", "equals_nothing", "forget_after", "is_name",
            "brings_malformed", "deletes_by_path", "rough", "number_key", "is_number", "known_time", "time_sql",
            "nested",
            "is_whole", "plus", "total", "reading_indexes", "is_at_home", "settle", "version", "lock_paths",
            "has_one_spelling", "is_sought", "key_sql", "equals_sql", "contains_sql", "cursor_sql", "source_sql",
            "visible",
            "visible_sql", "visible_condition", "names_below", "horizon", "is_settled", "missing_since", "read_time",
            "sum_json", "aggregate_columns", "token", "since", "changes_of", "is_reachable", "element_type",
            "row_place",
            "column_time_sql", "recall",
        ].map { ("documents", $0) }
        + [
            "is_contact", "is_blocked", "is_listed", "domain_holder", "domain_removes", "has_fields", "is_one_sided",
            "has_moved", "people_seen",
        ].map { ("domain", $0) }
        + ["client_functions", "channel_policies", "realtime_policies"].map { ("common", $0) }

    /// What earlier versions had under names that are still in use.
    private static let formerSignatures = [
        "query_sql(jsonb,text)", "query_sql(jsonb)", "clauses(jsonb)", "filter_sql(jsonb)", "answer(jsonb,timestamptz)",
        "total(double precision)",
    ]

    /// Documents had these before the rows got them.
    private static let moved = ["projected", "rows_sql", "row_ids_sql"]

    /// Drops what earlier versions had. Calls of it may be under way when documents are brought up to date, so it goes when the
    /// installation runs again: by then they have a function that earlier versions had not.
    static var dropOfFormer: String {
        func list(_ names: [String]) -> String { "array[\(names.map { "'\($0)'" }.joined(separator: ", "))]" }
        let kept = Set(formerSignatures.map { String($0.prefix { $0 != "(" }) })
        func names(_ isCommon: Bool) -> String {
            list(former.filter { ($0.part == "common") == isCommon && !kept.contains($0.name) }.map(\.name))
        }
        return """
            do $$
            declare
              is_later constant boolean := to_regproc('switchyard.begin_writes') is not null;
              has_rows constant boolean := to_regproc('public.switchyard_rows') is not null;
              each_    record;
            begin
              for each_ in
                select p.oid::regprocedure as name, p.prokind = 'a' as is_aggregate from pg_catalog.pg_proc p
                where p.pronamespace = to_regnamespace('switchyard') and pg_has_role(p.proowner, 'usage') and (
                  p.proname = any (\(names(true)))
                  or (is_later and p.proname = any (\(names(false))))
                  or (is_later and not has_rows and p.proname = any (\(list(moved))))
                  or (is_later and exists (select from unnest(\(list(formerSignatures))) s
                                           where to_regprocedure('switchyard.' || s) = p.oid)))
                order by p.prokind <> 'a'
              loop
                execute format('drop %s %s', case when each_.is_aggregate then 'aggregate' else 'function' end, each_.name);
              end loop;
            end $$;
            """
    }
}
