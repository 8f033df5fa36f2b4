/// The SQL that prepares a database for documents.
public enum DocumentSchema {
    /// Increases when clients begin to need what older functions lack, so that they know whether it exists. Functions that
    /// answer the same in less time keep the version; run ``sql`` again to get them.
    public static let version = 9
    /// The version of the oldest clients that these functions support.
    package static let serves = 1

    /// The SQL to run as the role that owns the schema. It runs atomically, upgrades an older version without losing the
    /// contents of tables, changes nothing when run again, and refuses to replace a newer version.
    public static var sql: String {
        let files = [
            PackageResources.values_sql, PackageResources.domain_sql, PackageResources.tables_sql,
            PackageResources.queries_sql,
            PackageResources.writing_sql, PackageResources.reading_sql, PackageResources.changes_sql,
            PackageResources.rows_sql, PackageResources.messaging_sql, PackageResources.grants_sql,
            PackageResources.check_sql,
        ].map { String(decoding: $0, as: UTF8.self) }
        return (["begin;", guardStatement] + files + [versionStatement, "commit;", ""]).joined(separator: "\n")
    }

    /// The same SQL, followed by a query for missing parts, with the statements to run and the role that may run each.
    ///
    /// An empty result means that everything is installed.
    ///
    /// - Parameter domain: Whether to include ``domainRules``.
    public static func installation(domain: Bool = false) -> String {
        """
        \(sql)\(domain ? domainRules : "")
        -- Nothing comes back where all is well.
        select m.missing as "is missing", m.statement as "run this", m.by_whom as "as" from switchyard.missing(\(domain)) m;

        """
    }

    /// Rows of `switchyard.rules` for the clients of users, contacts, check-ins and notifications, to be run after ``sql``.
    /// Users own their documents, and contacts can do what these clients do for them. Existing rows are kept.
    public static let domainRules = """
        insert into switchyard.rules (collection_id, read, write)
          values ('users', 'domain', 'domain'), ('contacts', 'domain', 'domain'), ('notifications', 'domain', 'domain'),
                 ('checkIns', 'domain', 'domain')
          on conflict (collection_id) do nothing;

        """

    private static var guardStatement: String {
        """
        -- Documents of Switchyard, version \(version).
        do $$
        declare
          installed int;
        begin
          perform pg_advisory_xact_lock(hashtextextended('switchyard', 0));
          if to_regclass('switchyard.settings') is not null then
            execute 'select schema from switchyard.settings' into installed;
            if installed > \(version) then
              raise exception 'the database has version % of these functions, which is newer than version \(version)', installed
                using errcode = '55000';
            end if;
          end if;
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
