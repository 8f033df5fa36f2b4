/// The SQL that prepares a database for documents.
public enum DocumentSchema {
    /// Increases when clients begin to need what older functions lack, so that they know whether it exists. Functions that
    /// answer the same in less time keep the version; run ``sql`` again to get them.
    public static let version = 11
    /// The version of the oldest clients that these functions support.
    package static let serves = 1

    /// The SQL to run as the role that owns the schema. It runs atomically, upgrades an older version without losing the
    /// contents of tables, changes nothing when run again, and refuses to replace a newer version.
    public static var sql: String { sql(domain: false) }

    private static func sql(domain: Bool) -> String {
        let files = [
            PackageResources.values_sql, PackageResources.domain_sql, PackageResources.tables_sql,
            PackageResources.queries_sql, PackageResources.visible_sql,
            PackageResources.writing_sql, PackageResources.reading_sql, PackageResources.changes_sql,
            PackageResources.rows_sql, PackageResources.messaging_sql, PackageResources.grants_sql,
            PackageResources.check_sql,
        ].map { String(decoding: $0, as: UTF8.self) }
        return (["begin;", guardStatement] + files + [versionStatement, domain ? domainRules : "", "commit;", ""])
            .joined(separator: "\n")
    }

    /// The same SQL, followed by a query for missing parts, with the statements to run and the role that may run each.
    ///
    /// An empty result means that everything is installed.
    ///
    /// - Parameter domain: Whether to include ``domainRules``.
    public static func installation(domain: Bool = false) -> String {
        """
        \(sql(domain: domain))
        -- Nothing comes back where all is well.
        select m.missing as "is missing", m.statement as "run this", m.by_whom as "as" from switchyard.missing(\(domain)) m;

        """
    }

    /// Rows of `switchyard.rules` for the clients of users, contacts, check-ins and notifications, to be run after ``sql``.
    /// Users own their documents, and contacts can do what these clients do for them. Existing rows are kept.
    public static let domainRules = """
        insert into switchyard.rules (collection_id, read, write)
          values ('users', 'domain', 'domain'), ('contacts', 'domain', 'domain'), ('contactRequests', 'domain', 'domain'),
                 ('notifications', 'domain', 'domain'), ('checkIns', 'domain', 'domain')
          on conflict (collection_id) do nothing;

        """

    private static var guardStatement: String {
        """
        -- Documents of Switchyard, version \(version).
        do $$
        declare
          installed int;
          tables    text;
          patience  constant timestamptz := clock_timestamp() + interval '30 seconds';
        begin
          perform pg_advisory_xact_lock(hashtextextended('switchyard', 0));
          if to_regclass('switchyard.settings') is not null then
            execute 'select schema from switchyard.settings' into installed;
            if installed > \(version) then
              raise exception 'the database has version % of these functions, which is newer than version \(version)', installed
                using errcode = '55000';
            end if;
          end if;
          -- All tables at once, before anything is changed: whoever uses one now goes on first. Nobody waits for a table here
          -- while holding another for longer than a moment, so no call is ended as a deadlock.
          select string_agg(c.oid::regclass::text, ', ' order by n.nspname desc,
                            array_position(array['batches', 'settings', 'rules'], c.relname::text), c.relname) into tables
            from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
            where (n.nspname = 'switchyard' and c.relkind = 'r')
               or (n.nspname = 'realtime' and c.relname = 'messages' and pg_has_role(c.relowner, 'usage'));
          while tables is not null loop
            begin
              perform set_config('lock_timeout', '200ms', true);
              execute 'lock table ' || tables || ' in access exclusive mode';
              exit;
            exception when lock_not_available then
              if clock_timestamp() > patience then
                raise exception 'the tables % were in use for 30 seconds; nothing was changed', tables
                  using errcode = '55P03', hint = 'End long transactions (see pg_stat_activity) and run the installation again.';
              end if;
              perform pg_sleep(0.02 + random() * 0.1);
            end;
          end loop;
          perform set_config('lock_timeout', '0', true);
        end $$;
        """
    }

    private static var versionStatement: String {
        """
        insert into switchyard.settings (schema, serves) values (\(version), \(serves))
          on conflict (only_one) do update set schema = excluded.schema, serves = excluded.serves;
        do $$ begin perform switchyard.settle(); end $$;
        """
    }
}
