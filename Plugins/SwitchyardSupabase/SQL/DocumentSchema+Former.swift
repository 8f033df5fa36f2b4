extension DocumentSchema {
    /// The functions of earlier versions, by part. This version may have a function of the same name with other arguments.
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

    /// Objects of earlier versions whose names are still in use.
    private static let formerSignatures = [
        "query_sql(jsonb,text)", "query_sql(jsonb)", "clauses(jsonb)", "filter_sql(jsonb)", "answer(jsonb,timestamptz)",
        "total(double precision)",
    ]

    /// These belonged to documents before they moved to rows.
    private static let moved = ["projected", "rows_sql", "row_ids_sql"]

    /// Drops the objects of earlier versions. Calls may be under way while documents are upgraded, so they are dropped when the
    /// installation runs again: by then, documents have a function that earlier versions lack.
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
